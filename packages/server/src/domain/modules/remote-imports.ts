import { type ImportHosts, isTownAddress, parseImportAddress } from "./import-address.ts"
import { findImportProblem } from "./import-problem.ts"
import { toStandardName } from "./standard-modules.ts"

/** Whether code imports packages. `specifiers` are those that the parser found. */
export function hasRemoteImports(
  code: string,
  specifiers: readonly string[],
  hosts: ImportHosts,
  local?: LocalSpecifiers,
): boolean {
  return listRemoteImports(code, specifiers, hosts, local).length > 0
}

/**
 * The specifiers that mean vals on this server. Undefined: every address of a val does. Only an
 * address on esm.town can mean a val elsewhere.
 */
export type LocalSpecifiers = ReadonlySet<string> | undefined

/**
 * The packages that code imports. The parser does not report the JSX runtime, which is imported
 * implicitly.
 */
export function listRemoteImports(
  code: string,
  specifiers: readonly string[],
  hosts: ImportHosts,
  local?: LocalSpecifiers,
  toMeaning: (specifier: string) => string = (specifier) => specifier,
): readonly string[] {
  const source = jsxPattern.exec(code)?.[1]
  const all = source === undefined ? specifiers : [...specifiers, `${source}/jsx-runtime`]
  return all.map(toMeaning).filter((specifier) => isRemoteImport(specifier, hosts, local))
}

const jsxPattern = /@jsxImportSource\s+([^\s*]+)/

/**
 * Whether a specifier is on npm, JSR or another server: neither built in nor on this server. What no
 * server can have counts as remote too.
 */
export function isRemoteImport(
  specifier: string,
  hosts: ImportHosts,
  local?: LocalSpecifiers,
): boolean {
  if (/^\s*(?:npm|jsr):/i.test(specifier)) return true
  // The lockfile tells the author what is wrong with it.
  if (findImportProblem(specifier, hosts) !== undefined) return true
  const url = /^\s*https?:/i.test(specifier) ? URL.parse(specifier) : null
  if (!url || toStandardName(url, hosts)) return false
  if (isTownAddress(specifier)) {
    if (!url.pathname.startsWith("/v/")) return true
    if (!hosts.fetchesTown) return false
    if (local !== undefined) return !isLocal(specifier, local)
    // When there were no specifiers yet, a val on this server had no files.
    return parseImportAddress(specifier, hosts)?.path !== null
  }
  return !hosts.baseUrls.some((base) => isBelow(url, base))
}

/** A configuration names a val of which files are imported. */
function isLocal(specifier: string, local: ReadonlySet<string>): boolean {
  for (let end = specifier.length; end > 0; end = specifier.lastIndexOf("/", end - 1))
    if (local.has(specifier.slice(0, end))) return true
  return false
}

function isBelow(url: URL, base: string): boolean {
  const baseUrl = URL.parse(base)
  const path = baseUrl?.pathname.replace(/\/$/, "") ?? ""
  return baseUrl?.origin === url.origin && `${url.pathname}/`.startsWith(`${path}/`)
}

/** Whether code can import packages, judged by its text: for versions without stored imports. */
export function mayImportRemote(code: string): boolean {
  return /["'`]\s*(?:npm|jsr|https?):|@jsxImportSource/i.test(code)
}
