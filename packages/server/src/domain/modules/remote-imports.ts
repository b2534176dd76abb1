import type { ImportHosts } from "./import-address.ts"
import { toStandardName } from "./standard-modules.ts"

/** Whether code imports anything from elsewhere. `specifiers` is what its parser found. */
export function hasRemoteImports(
  code: string,
  specifiers: readonly string[],
  hosts: ImportHosts,
): boolean {
  return listRemoteImports(code, specifiers, hosts).length > 0
}

/**
 * What code imports from elsewhere. JSX may be made by a runtime that the parser does not tell of,
 * since nobody wrote an import of it.
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

/**
 * Whether a specifier means something that neither is built into the runtime nor belongs to this
 * server: npm, JSR and other servers.
 */
export function isRemoteImport(specifier: string, hosts: ImportHosts): boolean {
  if (/^\s*(?:npm|jsr):/i.test(specifier)) return true
  const url = /^\s*https?:/i.test(specifier) ? URL.parse(specifier) : null
  if (!url || toStandardName(url, hosts)) return false
  // A val that is not there is missing, not remote: nothing that this server is asked for is
  // fetched from another one.
  if (url.origin === "https://esm.town") return !url.pathname.startsWith("/v/")
  return !hosts.baseUrls.some((base) => isBelow(url, base))
}

function isBelow(url: URL, base: string): boolean {
  const baseUrl = URL.parse(base)
  const path = baseUrl?.pathname.replace(/\/$/, "") ?? ""
  return baseUrl?.origin === url.origin && `${url.pathname}/`.startsWith(`${path}/`)
}

/**
 * Whether code can import anything from elsewhere: a look at the text, for code that was saved when
 * nobody noted it.
 */
export function mayImportRemote(code: string): boolean {
  return /["'`]\s*(?:npm|jsr|https?):|@jsxImportSource/i.test(code)
}
