import { standardModuleNames } from "@hamlet/contract"
import { type ImportHosts, parseImportAddress } from "./import-address.ts"
import { findStandardModule } from "./standard-modules.ts"

const relativePattern = /^\.\.?\//
const anyVal = { username: "user", name: "val" }

/**
 * Why a specifier cannot be imported by any val, whatever else is saved: it is a file, of which a
 * val has none, or a standard module that does not exist. Undefined for all others.
 */
export function findImportProblem(specifier: string, hosts: ImportHosts): string | undefined {
  const base = hosts.baseUrls[0] ?? ""
  const from = `${base.replace(/\/$/, "")}/v/${anyVal.username}/${anyVal.name}`
  if (findStandardModule(specifier, from, hosts)) return undefined
  const standard = findStandardName(specifier, from, hosts)
  if (standard !== undefined)
    return `this server has no standard module "${standard}" (it has ${standardModuleNames.join(", ")})`
  if (!relativePattern.test(specifier) || parseImportAddress(specifier, hosts, anyVal))
    return undefined
  return "a val is one file; other code is imported from the address of its own val"
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
