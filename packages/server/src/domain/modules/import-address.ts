// Without the schemas: the tool that fetches packages has this file too, and starts for each val.
import { limits, namePattern, toValNameKey, valNamePattern } from "@hamlet/contract/limits"
import { toStandardName } from "./standard-modules.ts"

/** The val that an import names. Names are as they are compared. */
export interface ImportAddress {
  readonly username: string
  readonly name: string
  /** Null for the current version. */
  readonly version: number | null
}

/** The URLs of this server's modules. */
export interface ImportHosts {
  /**
   * Absolute URLs, possibly with a path; the first is the one that relative imports resolve
   * against.
   */
  readonly baseUrls: readonly string[]
  /** Whether vals of esm.town that are not on this server are fetched from there. */
  readonly fetchesTown?: boolean
}

/** The val that contains the import. */
interface Importer {
  readonly username: string
  readonly name: string
}

/**
 * The val that an import specifier means: `{base}/v/{user}/{val}[@version]`, the same on
 * https://esm.town (where vals written for another service point), or relative to the module
 * address of the importing val, resolved as a browser would. Undefined for everything else, and for
 * what is the standard library there.
 */
export function parseImportAddress(
  specifier: string,
  hosts: ImportHosts,
  importer?: Importer,
): ImportAddress | undefined {
  const url = resolve(specifier, hosts, importer)
  if (url?.username !== "" || url.password !== "" || toStandardName(url, hosts)) return undefined
  if (url.origin === esmTown.origin) return parsePath(url, esmTown, url.searchParams.get("v"))
  for (const base of hosts.baseUrls) {
    const baseUrl = URL.parse(base)
    const address = baseUrl?.origin === url.origin ? parsePath(url, baseUrl, null) : undefined
    if (address) return address
  }
  return undefined
}

const esmTown = new URL("https://esm.town")

/** Whether a specifier is an address on esm.town. */
export function isTownAddress(specifier: string): boolean {
  return absolutePattern.test(specifier) && URL.parse(specifier)?.origin === esmTown.origin
}

const absolutePattern = /^\s*https?:/i
const relativePattern = /^(?:\/|\.\/|\.\.\/)/
const versionPattern = /^[1-9][0-9]*$/

/**
 * A bare specifier (`lodash`, `npm:x`) must not resolve: `URL` would take it for a path beside the
 * importing val.
 */
function resolve(
  specifier: string,
  hosts: ImportHosts,
  importer: Importer | undefined,
): URL | null {
  if (absolutePattern.test(specifier)) return URL.parse(specifier)
  const base = hosts.baseUrls[0]
  if (base === undefined || !relativePattern.test(specifier)) return null
  // A root-relative specifier means the same in every val. Others need an importer.
  if (!importer) return specifier.startsWith("/") ? URL.parse(specifier, base) : null
  return URL.parse(specifier, `${withoutSlash(base)}/v/${importer.username}/${importer.name}`)
}

/** `queryVersion` is the old way to name a version; the one in the path wins. */
function parsePath(url: URL, base: URL, queryVersion: string | null): ImportAddress | undefined {
  const prefix = `${withoutSlash(base.pathname)}/v/`
  if (!url.pathname.startsWith(prefix)) return undefined
  const [user = "", val = "", ...rest] = url.pathname.slice(prefix.length).split("/")
  if (rest.length > 0) return undefined
  const at = val.indexOf("@")
  const username = user.startsWith("@") ? user.slice(1) : user
  const name = at === -1 ? val : val.slice(0, at)
  const version = toVersion(at === -1 ? queryVersion : val.slice(at + 1))
  if (
    version === undefined ||
    !isName(username, namePattern, limits.usernameCharsMax) ||
    !isName(name, valNamePattern, limits.nameCharsMax)
  )
    return undefined
  return { username: username.toLowerCase(), name: toValNameKey(name), version }
}

function isName(text: string, pattern: RegExp, charsMax: number): boolean {
  return text.length <= charsMax && pattern.test(text)
}

function toVersion(text: string | null): number | null | undefined {
  if (text === null) return null
  const version = versionPattern.test(text) ? Number(text) : Number.NaN
  return version <= limits.versionMax ? version : undefined
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path
}

/** Whether code may import anything. A false is exact: keywords cannot be written with escapes. */
export function mayImport(code: string): boolean {
  return /import|from|@jsxImportSource/.test(code)
}
