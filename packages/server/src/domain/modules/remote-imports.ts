import type { ImportHosts } from "./import-address.ts"
import { toStandardName } from "./standard-modules.ts"

/** Whether code imports packages. `specifiers` are those that the parser found. */
export function hasRemoteImports(
  code: string,
  specifiers: readonly string[],
  hosts: ImportHosts,
): boolean {
  return listRemoteImports(code, specifiers, hosts).length > 0
}

/**
 * The packages that code imports. The parser does not report the JSX runtime, which is imported
 * implicitly.
 */
export function listRemoteImports(
  code: string,
  specifiers: readonly string[],
  hosts: ImportHosts,
): readonly string[] {
  const source = jsxPattern.exec(code)?.[1]
  const all = source === undefined ? specifiers : [...specifiers, `${source}/jsx-runtime`]
  return all.filter((specifier) => isRemoteImport(specifier, hosts))
}

const jsxPattern = /@jsxImportSource\s+([^\s*]+)/

/** Whether a specifier is on npm, JSR or another server: neither built in nor on this server. */
export function isRemoteImport(specifier: string, hosts: ImportHosts): boolean {
  if (/^\s*(?:npm|jsr):/i.test(specifier)) return true
  const url = /^\s*https?:/i.test(specifier) ? URL.parse(specifier) : null
  if (!url || toStandardName(url, hosts)) return false
  // A val that does not exist is missing, not remote: its import is not fetched from elsewhere.
  if (url.origin === "https://esm.town") return !url.pathname.startsWith("/v/")
  return !hosts.baseUrls.some((base) => isBelow(url, base))
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
