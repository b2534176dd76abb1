/** The modules of the standard library. */
export const standardModuleNames = ["blob", "sqlite"] as const

/** The name of a module of the standard library. */
export type StandardModuleName = (typeof standardModuleNames)[number]

/**
 * Their code, in TypeScript. It is the same as long as the server runs, so that it is no part of a
 * program's key.
 */
export type StandardModules = Readonly<Record<StandardModuleName, string>>

/** Where the modules of this server live. */
interface Hosts {
  readonly baseUrls: readonly string[]
}

/** A module of the standard library under one of the addresses that it is imported by. */
interface StandardImport {
  /** As the runtime is going to ask for it. */
  readonly url: string
  readonly name: StandardModuleName
}

/**
 * What a specifier in the module at the address `from` means, if it means a module of the standard
 * library.
 */
export function findStandardModule(
  specifier: string,
  from: string,
  hosts: Hosts,
): StandardImport | undefined {
  const url = addressPattern.test(specifier) ? URL.parse(specifier, from) : null
  const name = url && toStandardName(url, hosts)
  if (!name) return undefined
  // Runtimes leave it out when they look for a module.
  url.hash = ""
  return { url: url.href, name }
}

const addressPattern = /^(?:\s*https?:|\/|\.\/|\.\.\/)/i

const names = standardModuleNames.join("|")
/** Where a Hamlet server has them. */
const ownPattern = new RegExp(`^/std/(${names})(?:\\.ts)?$`)
/**
 * Where vals that were written for Val Town find them: with or without a version, as the only file
 * or as one of several.
 */
const townPattern = new RegExp(`^/v/@?std/(${names})(?:@[\\w.-]+)?(?:/(?:main|global)\\.tsx?)?$`)
const townOrigin = "https://esm.town"

/**
 * The module of the standard library that is at an address: at `{base}/std/blob`, with or without
 * `.ts`, and at `https://esm.town/v/std/blob`. A user of this server who is called std keeps their
 * `{base}/v/std/…`.
 */
export function toStandardName(url: URL, hosts: Hosts): StandardModuleName | undefined {
  if (url.username !== "" || url.password !== "") return undefined
  // The second is what a val means by `/std/blob` that is itself imported from there.
  if (url.origin === townOrigin)
    return toName(townPattern, url.pathname) ?? toName(ownPattern, url.pathname)
  for (const base of hosts.baseUrls) {
    const baseUrl = URL.parse(base)
    const path = baseUrl?.pathname.replace(/\/$/, "") ?? ""
    const isBelow = baseUrl?.origin === url.origin && url.pathname.startsWith(`${path}/`)
    const name = isBelow ? toName(ownPattern, url.pathname.slice(path.length)) : undefined
    if (name) return name
  }
  return undefined
}

function toName(pattern: RegExp, path: string): StandardModuleName | undefined {
  return pattern.exec(path)?.[1] as StandardModuleName | undefined
}

const limits = {
  /**
   * Addresses of the standard library in one program: there are few modules, but versions of them
   * can be made up without end.
   */
  addressesMax: 50,
}

const mentionPattern = new RegExp(
  `(["'\`])([^"'\`\\s\\\\]{0,500}?std/(?:${names})[^"'\`\\s\\\\]{0,100})\\1`,
  "g",
)

interface Module {
  readonly url: string
  readonly code: string
}

/**
 * What modules may import of the standard library, under the very addresses that they write. Their
 * code is searched for the addresses rather than read: one that only stands in a text adds a module
 * that nobody imports, which does no harm, and nothing waits for a parser.
 */
export function listStandardModules(
  modules: readonly Module[],
  hosts: Hosts,
  sources: StandardModules,
): readonly Module[] {
  const found = new Map<string, Module>()
  for (const { url: from, code } of modules) {
    if (!code.includes("std/")) continue
    for (const [, , specifier = ""] of code.matchAll(mentionPattern)) {
      const standard = findStandardModule(specifier, from, hosts)
      if (standard) found.set(standard.url, { url: standard.url, code: sources[standard.name] })
      if (found.size >= limits.addressesMax) return [...found.values()]
    }
  }
  return [...found.values()]
}
