import { CliError } from "../cli-error.ts"

/**
 * A parsed name: one of the caller's vals, a val of another user, or an id; optionally with a
 * version.
 */
export interface ValName {
  readonly kind: "own" | "named" | "id"
  /** Set if `kind` is "named". */
  readonly username: string
  /** Set unless `kind` is "id". */
  readonly name: string
  readonly id: string
  readonly version: number | undefined
}

/**
 * The possible meanings of a text: a URL can be read in two ways. `host` must match one of the
 * val's URLs.
 */
export interface ParsedValName {
  readonly candidates: readonly ValName[]
  readonly host: string | undefined
}

const word = "[a-zA-Z][a-zA-Z0-9_]*"
const hostWord = "[a-zA-Z][a-zA-Z0-9_-]*"
const valWord = `${hostWord}|\\.config`
const ownPattern = new RegExp(`^(${valWord})(?:@(\\d{1,10}))?$`)
const namedPattern = new RegExp(`^@?(${word})/(${valWord})(?:@(\\d{1,10}))?$`)
const idPattern = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const labelPattern = new RegExp(`^(${word})-(${hostWord})$`, "i")

/** Parses `val`, `user/val`, `user/val@3`, an id or a URL. */
export function parseValName(text: string): ParsedValName {
  const candidates = /^https?:\/\//i.test(text) ? fromAddress(text) : [fromWords(text)]
  const known = candidates.filter((candidate) => candidate !== undefined)
  if (known.length === 0)
    throw new CliError("usage", `Cannot use "${text}" as the name of a val`, {
      advice: 'write "hello", "ada/hello", "ada/hello@3" or one of its URLs',
    })
  return {
    candidates: known,
    host: URL.canParse(text) && text.includes("//") ? new URL(text).host : undefined,
  }
}

function fromWords(text: string): ValName | undefined {
  if (idPattern.test(text)) return byId(text, undefined)
  const own = ownPattern.exec(text)
  if (own)
    return { kind: "own", username: "", name: own[1] ?? "", id: "", version: toVersion(own[2]) }
  const named = namedPattern.exec(text)
  return named ? byName(named[1], named[2], named[3]) : undefined
}

/**
 * Parses a path on the server (`/v/ada/hello@3`, `/u/ada/hello` or of the API), or the val's own
 * host name.
 */
function fromAddress(text: string): readonly (ValName | undefined)[] {
  if (!URL.canParse(text)) return []
  const { pathname, hostname } = new URL(text)
  const path = decode(pathname).replace(/\/+$/, "")
  return [fromPath(path), fromLabel(hostname.split(".")[0] ?? "")]
}

function fromPath(path: string): ValName | undefined {
  // A server may be mounted below a path.
  const named = /\/(?:v|u|x|v1\/alias)\/([^/]+\/[^/]+)$/.exec(path)
  const words = named?.[1] === undefined ? undefined : fromWords(named[1])
  const api = /\/v1\/vals\/([^/]+)(?:\/versions\/(\d{1,10}))?$/.exec(path)
  return (
    words ??
    (api?.[1] !== undefined && idPattern.test(api[1]) ? byId(api[1], toVersion(api[2])) : undefined)
  )
}

/**
 * The first label of a val's host name: both names, or the id without dashes where they are too
 * long.
 */
function fromLabel(label: string): ValName | undefined {
  const id = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i.exec(label)
  if (id) return byId(id.slice(1).join("-"), undefined)
  const names = labelPattern.exec(label)
  return names ? byName(names[1], names[2], undefined) : undefined
}

function byId(id: string, version: number | undefined): ValName {
  return { kind: "id", username: "", name: "", id: id.toLowerCase(), version }
}

function byName(username = "", name = "", version: string | undefined): ValName {
  return { kind: "named", username, name, id: "", version: toVersion(version) }
}

function toVersion(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
