// Without the schemas: the tool that fetches packages has this file too, and starts for each val.
import { findPathProblem, segmentPattern } from "@hamlet/contract/file-paths"
import { limits, namePattern, toValNameKey, valNamePattern } from "@hamlet/contract/limits"
import { toStandardName } from "./standard-modules.ts"

/** The file that an import names. Names are as they are compared. */
export interface ImportAddress {
  readonly username: string
  readonly name: string
  /** Null for `main`. */
  readonly branch: string | null
  /** Null for the current version of the branch. */
  readonly version: number | null
  /** Null for the entry file. */
  readonly path: string | null
}

/** Identifies the branch of an address: two addresses of its files have the same key. */
export function toBranchKey({
  username,
  name,
  branch,
}: Pick<ImportAddress, "username" | "name" | "branch">): string {
  return `${username}/${name}${branch === null ? "" : `@${branch}`}`
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

/** The val that contains the import, which is in a file at its root. */
interface Importer {
  readonly username: string
  readonly name: string
}

/**
 * The file that an import specifier means: `{base}/v/{user}/{val}[@version][/{path}]`, where the
 * version may be a number, `{number}-{branch}` or a branch, or the query `?v={number}`, the same on
 * https://esm.town (where vals written for another service point), or another val relative to `/v/{user}/{val}` of the importing
 * one, resolved as a browser would. Undefined for everything else, such as files of the importing
 * val, and for what is the standard library there.
 */
export function parseImportAddress(
  specifier: string,
  hosts: ImportHosts,
  importer?: Importer,
): ImportAddress | undefined {
  const url = resolve(specifier, hosts, importer)
  const address = url && parseUrl(url, hosts)
  // A relative path to a file means one of the importing val.
  return address && (address.path === null || !isRelative(specifier)) ? address : undefined
}

/** Whether a specifier is relative to the address of the importing file. */
export function isRelative(specifier: string): boolean {
  return /^\.\.?\//.test(specifier)
}

function parseUrl(url: URL, hosts: ImportHosts): ImportAddress | undefined {
  if (url.username !== "" || url.password !== "" || toStandardName(url, hosts)) return undefined
  if (url.origin === esmTown.origin) return parsePath(url, esmTown)
  for (const base of hosts.baseUrls) {
    const baseUrl = URL.parse(base)
    const address = baseUrl?.origin === url.origin ? parsePath(url, baseUrl) : undefined
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
const versionPattern = /^(?:0|[1-9][0-9]*)$/
const numberedPattern = /^([0-9]+)-(.+)$/

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

/** The query `v` is the old way to name a version; the one in the path wins. */
function parsePath(url: URL, base: URL): ImportAddress | undefined {
  const prefix = `${withoutSlash(base.pathname)}/v/`
  if (!url.pathname.startsWith(prefix)) return undefined
  const [user = "", val = "", ...rest] = url.pathname.slice(prefix.length).split("/")
  const path = rest.length === 0 ? null : rest.join("/")
  const at = val.indexOf("@")
  const username = user.startsWith("@") ? user.slice(1) : user
  const name = at === -1 ? val : val.slice(0, at)
  const pin = at === -1 ? parseNumber(url.searchParams.get("v")) : parsePin(val.slice(at + 1))
  if (
    pin === undefined ||
    (path !== null && findPathProblem(path) !== undefined) ||
    !isName(username, namePattern, limits.usernameCharsMax) ||
    !isName(name, valNamePattern, limits.nameCharsMax)
  )
    return undefined
  return { username: username.toLowerCase(), name: toValNameKey(name), ...pin, path }
}

/** A version of a branch. */
type Pin = Pick<ImportAddress, "branch" | "version">

function parseNumber(text: string | null): Pin | undefined {
  if (text === null) return { branch: null, version: null }
  const version = toVersion(text)
  return version ? { branch: null, version } : undefined
}

/** What is after the `@` of an address: `3`, `3-main` or `main`. A number is never a branch. */
export function parsePin(text: string): Pin | undefined {
  if (/^[0-9]+$/.test(text)) return parseNumber(text)
  const [, number, branch = text] = numberedPattern.exec(text) ?? []
  const version = number === undefined ? null : toVersion(number)
  if (version === undefined || branch.length > limits.nameCharsMax || !segmentPattern.test(branch))
    return undefined
  const key = branch.toLowerCase()
  return { branch: key === mainBranch ? null : key, version }
}

/** The branch that every val has. */
export const mainBranch = "main"

function isName(text: string, pattern: RegExp, charsMax: number): boolean {
  return text.length <= charsMax && pattern.test(text)
}

function toVersion(text: string): number | undefined {
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
