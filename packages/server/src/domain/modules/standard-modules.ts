import {
  findOwnStandardModule,
  findTownStandardModule,
  type StandardModuleName,
  standardModuleNames,
} from "@hamlet/contract/standard-modules"
import { toRegExp } from "@hamlet/kit"
import type { ProgramModule } from "@hamlet/sandbox"

/** The code of the modules. It does not change while the server runs, so no program's key has it. */
export type StandardModules = Readonly<Record<StandardModuleName, string>>

/** The URLs of this server's modules. */
interface Hosts {
  readonly baseUrls: readonly string[]
}

/** A module of the standard library under one of its URLs. */
interface StandardImport {
  /** The URL that the runtime will request. */
  readonly url: string
  readonly name: StandardModuleName
}

/** The standard module that a specifier in the module at `from` means, if any. */
export function findStandardModule(
  specifier: string,
  from: string,
  hosts: Hosts,
): StandardImport | undefined {
  const url = addressPattern.test(specifier) ? URL.parse(specifier, from) : null
  const meant = url && URL.parse(specifier, filePattern.exec(from)?.[1] ?? from)
  const name = meant && toStandardName(meant, hosts)
  if (!name) return undefined
  // Runtimes ignore the fragment when they resolve a module.
  url.hash = ""
  return { url: url.href, name }
}

/**
 * A file at the root of a val, and the address of the val: `../../std/blob` is relative to that, as
 * other vals are.
 */
const filePattern = /^(.*\/v\/[^/]+\/[^/@]+)@[^/]*\/[^/]+$/

const addressPattern = /^(?:\s*https?:|\/|\.\/|\.\.\/)/i

/**
 * The module of the standard library that is at an address: at `{base}/std/blob`, with or without
 * `.ts`, and at `https://esm.town/v/std/blob`. A user of this server who is called std keeps their
 * `{base}/v/std/…`.
 */
export function toStandardName(url: URL, hosts: Hosts): StandardModuleName | undefined {
  if (url.username !== "" || url.password !== "") return undefined
  const fromTown = findTownStandardModule(url)
  if (fromTown) return fromTown
  for (const base of hosts.baseUrls) {
    const baseUrl = URL.parse(base)
    const path = baseUrl?.pathname.replace(/\/$/, "") ?? ""
    const isBelow = baseUrl?.origin === url.origin && url.pathname.startsWith(`${path}/`)
    const name = isBelow ? findOwnStandardModule(url.pathname.slice(path.length)) : undefined
    if (name) return name
  }
  return undefined
}

const limits = {
  /** URLs of standard modules in one program. Few modules exist, but any version can be written. */
  addressesMax: 50,
  /** The names of all modules are in it. */
  patternCharsMax: 2_000,
}

const names = standardModuleNames.join("|")
// Without regard to case, as Val Town reads names.
const mentionPattern = toRegExp(
  `(["'\`])([^"'\`\\s\\\\]{0,500}?std/(?:${names})[^"'\`\\s\\\\]{0,100})\\1`,
  "gi",
  limits.patternCharsMax,
)

/**
 * The standard modules, as JavaScript, that the given modules may import, under the URLs that their code contains.
 * The code is searched as text, which is faster than a parser: a URL in a string that is not an
 * import only adds an unused module.
 */
export function listStandardModules(
  modules: readonly ProgramModule[],
  hosts: Hosts,
  scripts: StandardModules,
): readonly ProgramModule[] {
  const found = new Map<string, ProgramModule>()
  for (const { url: from, code } of modules) {
    if (!code.includes("std/")) continue
    for (const [, , specifier = ""] of code.matchAll(mentionPattern)) {
      const standard = findStandardModule(specifier, from, hosts)
      if (standard) {
        const { url, name } = standard
        found.set(url, { url, code: scripts[name], type: "js" as const })
      }
      if (found.size >= limits.addressesMax) return [...found.values()]
    }
  }
  return [...found.values()]
}
