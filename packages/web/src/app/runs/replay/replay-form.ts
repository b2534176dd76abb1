import type { Input } from "@hamlet/contract/client"
import { isCredentialHeader } from "@hamlet/contract/credential-headers"
import { toBytes } from "../../../ui/units.ts"
import { parseArgs } from "../../val/code/parse-args.ts"
import { hasBody } from "../../val/preview/methods.ts"
import { parseHeaders } from "../../val/preview/parse-headers.ts"
import type { RunDetail } from "../followed-run.ts"
import { toPath } from "../list/run-title.ts"

/** The fields of the form, as text. */
export interface ReplayFields {
  readonly method: string
  readonly path: string
  /** One `name: value` per line. */
  readonly headers: string
  readonly body: string
  /** A JSON array. */
  readonly args: string
  readonly version: string
}

/** What a replay of a run can change, and what the fields contain at first. */
export interface ReplayForm {
  /** `version`: the input comes from a schedule or a mail, and cannot be changed. */
  readonly kind: "request" | "args" | "version"
  readonly fields: ReplayFields
  /** Whether the server has the whole input. If not, all of it has to be given. */
  readonly isKept: boolean
  /** What the reader should know about a field. */
  readonly hints: Readonly<Partial<Record<keyof ReplayFields, string | undefined>>>
}

/** The changes of a replay. */
export type ReplayChanges = Omit<Input<"replayRun">, "run_id">

/** A field that cannot be read. */
export class FieldError extends Error {
  override readonly name = "FieldError"

  constructor(
    readonly field: keyof ReplayFields,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The form for a run. Only the val's owner sees the headers and the body of its requests. */
export function toReplayForm(run: RunDetail, isOwner: boolean): ReplayForm {
  const empty = { method: "GET", path: "/", headers: "", body: "", args: "" }
  const version = String(run.val.version)
  const versionHint = `The run used version ${version}.`
  if (run.request) return toRequestForm(run, run.request, isOwner, versionHint)
  if (run.email !== null || run.source === "interval" || run.source === "email")
    return {
      kind: "version",
      fields: { ...empty, version },
      isKept: true,
      hints: { version: versionHint },
    }
  // Truncated arguments are recorded as a string.
  const isWhole = Array.isArray(run.args)
  return {
    kind: "args",
    fields: { ...empty, args: isWhole ? JSON.stringify(run.args, null, 2) : "", version },
    isKept: true,
    hints: {
      args: isWhole
        ? "A JSON array: one element for each argument."
        : "The arguments are too long to show. Leave this empty to use them again.",
      version: versionHint,
    },
  }
}

function toRequestForm(
  { val, requestContent }: RunDetail,
  request: NonNullable<RunDetail["request"]>,
  isOwner: boolean,
  versionHint: string,
): ReplayForm {
  return {
    kind: "request",
    fields: {
      method: request.method,
      path: toPath(request.url),
      headers: (requestContent?.headers ?? [])
        .map(([name, value]) => `${name}: ${value}`)
        .join("\n"),
      body: requestContent?.body ?? "",
      args: "",
      version: String(val.version),
    },
    isKept: requestContent !== null || !isOwner,
    hints: {
      headers: toHeadersHint(requestContent, isOwner),
      body: toBodyHint(requestContent, isOwner),
      version: versionHint,
    },
  }
}

type Content = RunDetail["requestContent"]

const hidden = "Only the val's owner sees what was sent. Leave this empty to send it again."

function toHeadersHint(content: Content, isOwner: boolean): string {
  const credentials =
    "Credentials such as Authorization and Cookie are not kept with a run. Those that you add are sent, and not kept either."
  if (content) return withSecrets(credentials, content.headers.map(([, value]) => value).join())
  return isOwner ? `The request was too large to keep. ${credentials}` : hidden
}

function toBodyHint(content: Content, isOwner: boolean): string | undefined {
  if (!content)
    return isOwner ? "The request was too large to keep: enter the body to send." : hidden
  const { isBinary, isTruncated, bytes, body } = content
  const size = bytes === null ? "" : ` of ${toBytes(bytes)}`
  if (isBinary) return `The binary body${size} is sent again, unless you enter another one.`
  if (isTruncated)
    return `The body was cut: this is the beginning${size}. A change sends only what you see.`
  return withSecrets("", body ?? "") || undefined
}

function withSecrets(hint: string, text: string): string {
  if (!/\[secret \w+\]/.test(text)) return hint
  return `${hint} Values of secrets are shown as [secret NAME]; after a change, these words are sent.`.trim()
}

/** What the user has changed. Throws a `FieldError`. */
export function toReplayChanges(
  { kind, fields: before, isKept }: ReplayForm,
  fields: ReplayFields,
): ReplayChanges {
  const isChanged = (name: keyof ReplayFields) => fields[name] !== before[name]
  const version = isChanged("version") ? { version: parseVersion(fields.version) } : {}
  if (kind === "version") return version
  if (kind === "args")
    return { ...(isChanged("args") ? { args: readArgs(fields.args) } : {}), ...version }
  const { method, path, body } = fields
  return {
    ...(isChanged("method") ? { method } : {}),
    ...(isChanged("path") || !isKept ? { path } : {}),
    ...(isChanged("headers") || !isKept ? { headers: readHeaders(fields.headers) } : {}),
    ...((isChanged("body") || !isKept) && hasBody({ method }) ? { body } : {}),
    ...version,
  }
}

function readArgs(text: string): unknown[] {
  try {
    return parseArgs(text)
  } catch (cause) {
    throw new FieldError("args", cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

function readHeaders(text: string): [string, string][] {
  try {
    return parseHeaders(text)
  } catch (cause) {
    throw new FieldError("headers", cause instanceof Error ? cause.message : String(cause), {
      cause,
    })
  }
}

function parseVersion(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text.trim())) return Number(text)
  throw new FieldError("version", "Enter the number of a version")
}

/** Whether the changes contain credentials. */
export function hasCredentials({ headers = [] }: ReplayChanges): boolean {
  return Array.isArray(headers) && headers.some(([name = ""]) => isCredentialHeader(name))
}
