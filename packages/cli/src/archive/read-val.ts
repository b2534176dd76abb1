import type { Input } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import { privacies } from "../contract-copies.ts"
import { isValName, parseFile } from "../files/front-matter.ts"
import { toText } from "../terminal/read-input.ts"
import { toBaseName } from "./import-source.ts"

/** A val as it is sent to be imported. */
export type ImportedVal = Input<"importVals">["vals"][number]

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads a file as a val: code with a first line, or JSON as an archive has it, or as other services
 * give it.
 */
export function readVal(path: string, bytes: Uint8Array): ImportedVal {
  const text = toText(bytes, `"${path}"`)
  return path.endsWith(".json") ? fromJson(path, text) : fromCode(path, text)
}

function fromCode(path: string, text: string): ImportedVal {
  const { front, code } = parseFile(text, path)
  const { name = toBaseName(path), privacy, type } = front
  if (!isValName(name))
    throw new CliError("usage", `Cannot make a val of "${path}": "${name}" cannot be its name`, {
      advice: 'give it another in the first line, as in "// hamlet: name=hello"',
    })
  if (code === "") throw refuse(path, "it has no code")
  return { name, ...(privacy && { privacy }), ...(type && { type }), versions: [{ code }] }
}

function fromJson(path: string, text: string): ImportedVal {
  const fields = parseObject(path, text)
  const name = fields.name ?? toBaseName(path)
  if (typeof name !== "string" || !isValName(name))
    throw refuse(path, `${JSON.stringify(name)?.slice(0, 100)} cannot be its name`)
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
    if (isFields(value)) return value
  } catch {
    throw refuse(path, "it is not JSON")
  }
  throw refuse(path, "it is no JSON object")
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
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

/** One that we do not have becomes what a val is that says nothing. */
function toType(type: unknown): ImportedVal["type"] {
  return typeof type === "string" && Object.hasOwn(types, type)
    ? types[type as keyof typeof types]
    : undefined
}

/** By its name, or by the older flag; nobody is made public by a word that we do not know. */
function toPrivacy(fields: Fields): ImportedVal["privacy"] {
  const named = privacies.find((privacy) => privacy === fields.privacy)
  if (named || fields.privacy !== undefined) return named ?? "private"
  return fields.public === true ? "public" : fields.public === false ? "private" : undefined
}

/** A time that is none is nobody's fault, and not worth a val. */
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
  if (!Array.isArray(fields.versions) || fields.versions.length === 0)
    throw refuse(path, 'its "versions" are no list of versions')
  return fields.versions.map((version: unknown) => toVersion(path, version))
}

function toVersion(path: string, value: unknown): ImportedVal["versions"][number] {
  if (!isFields(value) || typeof value.code !== "string" || value.code === "")
    throw refuse(path, "it has no code")
  const { version, code } = value
  // Others count from 0.
  const isNumber = typeof version === "number" && Number.isInteger(version) && version > 0
  return { ...(isNumber ? { version } : {}), code, ...pick("createdAt", toTime(value.createdAt)) }
}

function toComments(path: string, value: unknown): ImportedVal["comments"] {
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) throw refuse(path, 'its "comments" are no list')
  return value.map((one: unknown) => {
    if (!isFields(one) || typeof one.author !== "string" || typeof one.comment !== "string")
      throw refuse(path, "it has a comment that is none")
    return { author: one.author, comment: one.comment, ...pick("createdAt", toTime(one.createdAt)) }
  })
}

function refuse(path: string, problem: string): CliError {
  return new CliError("failed", `Cannot make a val of "${path}": ${problem}`)
}
