import { standardModuleNames } from "@hamlet/contract/standard-modules"
import type { ImportHosts } from "./import-address.ts"
import { findStandardModule } from "./standard-modules.ts"

/** Modules of Val Town's standard library that this server cannot have, with the reason. */
const townOnly: Readonly<Record<string, string>> = {
  oauth: "it signs visitors in at Val Town",
  set: "a val cannot change vals; std/blob keeps values",
  getlegacyimporturl: "it knows the addresses of Val Town's vals",
}
const townPattern = /^\s*https:\/\/esm\.town\/v\/@?std\/(\w+)/i

/** The folder in which a val may have files. */
const filePattern = /^\/tmp\//
const anyVal = { username: "user", name: "val" }

/**
 * Why a specifier cannot be imported by any val, whatever else is saved: it is a file outside of the
 * val, or a standard module that does not exist or needs Val Town. Undefined for all others.
 */
export function findImportProblem(specifier: string, hosts: ImportHosts): string | undefined {
  const base = hosts.baseUrls[0] ?? ""
  const from = `${base.replace(/\/$/, "")}/v/${anyVal.username}/${anyVal.name}`
  if (findStandardModule(specifier, from, hosts)) return undefined
  const town = townPattern.exec(specifier)?.[1]
  const reason = townOnly[town?.toLowerCase() ?? ""]
  if (reason !== undefined) return `"std/${town}" is not available here: ${reason}`
  const standard = findStandardName(specifier, from, hosts)
  if (standard !== undefined)
    return `this server has no standard module "${standard}" (it has ${standardModuleNames.join(", ")})`
  if (filePattern.test(specifier)) return `a file is imported by its address, "file://${specifier}"`
  return undefined
}

/** The name of what looks like a standard module of this server. */
function findStandardName(
  specifier: string,
  from: string,
  { baseUrls }: ImportHosts,
): string | undefined {
  const url = /^(?:\s*https?:|\/|\.\.?\/)/i.test(specifier) ? URL.parse(specifier, from) : null
  for (const base of baseUrls) {
    const prefix = `${base.replace(/\/$/, "")}/std/`
    if (url?.href.startsWith(prefix)) return /^[\w.-]+/.exec(url.href.slice(prefix.length))?.[0]
  }
  return undefined
}
