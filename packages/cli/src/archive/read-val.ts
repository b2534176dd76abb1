import type { Input } from "@hamlet/contract/client"
import { isRecord } from "@hamlet/contract/is-record"
import { fileTypes, privacies } from "@hamlet/contract/lists"
import { CliError } from "../cli-error.ts"
import { isValName, parseFile } from "../files/front-matter.ts"
import { type ArchivedBranch, readBranches } from "../history/archived-history.ts"
import { toText } from "../terminal/read-input.ts"
import { toStem } from "../watch/paths.ts"
import type { SourceFile } from "./write-branch.ts"

/** A val as the import API takes it. */
export type ImportedVal = Input<"importVals">["vals"][number]

type Fields = Readonly<Record<string, unknown>>

/**
 * Parses a file as a val: code with an optional first line, or JSON as in an archive or as other
 * services export it.
 */
export function readVal(path: string, bytes: Uint8Array): ImportedVal {
  const text = toText(bytes, `"${path}"`)
  return path.endsWith(".json") ? fromJson(path, text) : fromCode(path, text)
}

/** The files of an archived val that has several; undefined for one with code and readme only. */
export function readFiles(path: string, bytes: Uint8Array): readonly SourceFile[] | undefined {
  if (!path.endsWith(".json")) return undefined
  const { files } = parseObject(path, toText(bytes, `"${path}"`))
  if (files === undefined) return undefined
  if (!Array.isArray(files) || !files.every(isSourceFile))
    throw refuse(path, 'its "files" is not a list of files')
  return files
}

/** The history of an archived val, if the archive has it. */
export function readHistory(
  path: string,
  bytes: Uint8Array,
): readonly ArchivedBranch[] | undefined {
  if (!path.endsWith(".json")) return undefined
  return readBranches(path, parseObject(path, toText(bytes, `"${path}"`)).branches)
}

function isSourceFile(value: unknown): value is SourceFile {
  return (
    isRecord(value) &&
    typeof value.path === "string" &&
    typeof value.content === "string" &&
    value.type !== "directory" &&
    (fileTypes as readonly unknown[]).includes(value.type)
  )
}

function fromCode(path: string, text: string): ImportedVal {
  const { front, code } = parseFile(text, path)
  const { name = toStem(path), privacy, type } = front
  if (!isValName(name))
    throw new CliError("usage", `Cannot make a val of "${path}": "${name}" is not a valid name`, {
      advice: 'set another name in its first line: "// hamlet: name=hello"',
    })
  if (code === "") throw refuse(path, "it has no code")
  return { name, ...(privacy && { privacy }), ...(type && { type }), versions: [{ code }] }
}

function fromJson(path: string, text: string): ImportedVal {
  const fields = parseObject(path, text)
  const name = fields.name ?? toStem(path)
  if (typeof name !== "string" || !isValName(name))
    throw refuse(path, `${JSON.stringify(name)?.slice(0, 100)} is not a valid name`)
  return {
    name,
    ...pick("type", toType(fields.type)),
    ...pick("privacy", toPrivacy(fields)),
    ...(typeof fields.readme === "string" || fields.readme === null
      ? { readme: fields.readme }
      : {}),
    ...pick("createdAt", toTime(fields.createdAt)),
    ...pick("updatedAt", toTime(fields.updatedAt)),
    versions: toVersions(path, fields),
    ...pick("comments", toComments(path, fields.comments)),
  }
}

function parseObject(path: string, text: string): Fields {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ""))
    if (isRecord(value)) return value
  } catch {
    throw refuse(path, "it is not JSON")
  }
  throw refuse(path, "it is not a JSON object")
}

function pick<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { [Key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value }
}

const types = {
  http: "http",
  httpnext: "http",
  express: "http",
  script: "script",
  rpc: "script",
  interval: "interval",
  email: "email",
} as const

/** Unknown types become the default. */
function toType(type: unknown): ImportedVal["type"] {
  return typeof type === "string" && Object.hasOwn(types, type)
    ? types[type as keyof typeof types]
    : undefined
}

/** Reads `privacy` or the older `public` flag. An unknown value becomes private, never public. */
function toPrivacy(fields: Fields): ImportedVal["privacy"] {
  const named = privacies.find((privacy) => privacy === fields.privacy)
  if (named || fields.privacy !== undefined) return named ?? "private"
  return fields.public === true ? "public" : fields.public === false ? "private" : undefined
}

/** An invalid time is dropped: it is no reason to refuse the val. */
function toTime(value: unknown): string | undefined {
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN
  return ms >= timeMsMin && ms <= timeMsMax ? new Date(ms).toISOString() : undefined
}

const timeMsMin = Date.parse("0001-01-01T00:00:00Z")
const timeMsMax = Date.parse("9999-12-31T00:00:00Z")

function toVersions(path: string, fields: Fields): ImportedVal["versions"] {
  if (fields.versions === undefined) {
    const createdAt = [fields.versionCreatedAt, fields.updatedAt, fields.createdAt]
      .map(toTime)
      .find((time) => time !== undefined)
    return [toVersion(path, { ...fields, createdAt })]
  }
  if (Array.isArray(fields.versions) && fields.versions.length === 0 && fields.branches)
    return [{ code: "\n" }]
  if (!Array.isArray(fields.versions) || fields.versions.length === 0)
    throw refuse(path, 'its "versions" is not a list of versions')
  // A val with several files may have had none with code in some versions; at least one is needed,
  // and the files replace it.
  const versions =
    Array.isArray(fields.files) || Array.isArray(fields.branches)
      ? fields.versions.filter((one: unknown) => isRecord(one) && one.code !== "")
      : fields.versions
  if (versions.length === 0) return [{ code: "\n" }]
  return versions.map((version: unknown) => toVersion(path, version))
}

function toVersion(path: string, value: unknown): ImportedVal["versions"][number] {
  if (!isRecord(value) || typeof value.code !== "string" || value.code === "")
    throw refuse(path, "it has no code")
  const { version, code } = value
  // Other services count from 0.
  const isNumber = typeof version === "number" && Number.isInteger(version) && version > 0
  return { ...(isNumber ? { version } : {}), code, ...pick("createdAt", toTime(value.createdAt)) }
}

function toComments(path: string, value: unknown): ImportedVal["comments"] {
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) throw refuse(path, 'its "comments" is not a list')
  return value.map((one: unknown) => {
    if (!isRecord(one) || typeof one.author !== "string" || typeof one.comment !== "string")
      throw refuse(path, "it contains an invalid comment")
    return { author: one.author, comment: one.comment, ...pick("createdAt", toTime(one.createdAt)) }
  })
}

function refuse(path: string, problem: string): CliError {
  return new CliError("failed", `Cannot make a val of "${path}": ${problem}`)
}
