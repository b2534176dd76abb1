import { type CompilerSettings, toPragma } from "@hamlet/contract/compiler-settings"
import type { ValConfig } from "@hamlet/contract/deno-json"
import { listTargets, resolveMapped } from "@hamlet/contract/import-map"
import { toModuleType } from "@hamlet/sandbox"
import { type ImportHosts, isTownAddress } from "../import-address.ts"
import { isRemoteImport } from "../remote-imports.ts"
import type { WrittenImport } from "./written-imports.ts"

/** A package that a text imports, and what its stub replaces; nothing if no comment names it. */
export interface WrittenPackage {
  readonly specifier: string
  readonly start: number
  readonly end: number
}

/**
 * The packages that a text imports in a file of a version with that configuration. Undefined if only
 * the resolver can tell.
 */
export type ListPackages = (
  path: string,
  config: ValConfig | undefined,
) => readonly WrittenPackage[] | undefined

/** What is known of a text. */
interface ReadText {
  readonly code: string
  readonly specifiers: readonly string[]
  /** Whether it imports packages without a configuration. */
  readonly isRemote: boolean
  /** The specifiers of vals on this server. */
  readonly local: ReadonlySet<string>
  /** Undefined if they were not searched, null if they cannot be told. */
  readonly written: readonly WrittenImport[] | null | undefined
}

/** Creates the function that lists the packages of a text. */
export function createListPackages(hosts: ImportHosts, text: ReadText): ListPackages {
  return (path, config) => {
    if (/\bcreateRequire\b/.test(text.code) && text.isRemote) return undefined
    const toMeaning = (specifier: string) => config && resolveMapped(config.map, specifier, path)
    const isRemote = (specifier: string) => isRemoteImport(specifier, hosts, text.local)
    const mapped = text.specifiers.flatMap((specifier) => toMeaning(specifier) ?? [])
    // Whether such a val is on this server is known when its packages are resolved.
    if (hosts.fetchesTown && mapped.some(isTownAddress)) return undefined
    const implicit = findImplicit(config, text.code, path).filter((one) => isRemote(one.specifier))
    if (!text.isRemote && !mapped.some(isRemote)) return implicit
    if (!text.written) return undefined
    const written = text.written.flatMap(({ specifier, start, end, clauseEnd }) => {
      const meaning = toMeaning(specifier) ?? specifier
      return isRemote(meaning) ? [{ specifier: meaning, start, end: clauseEnd ?? end }] : []
    })
    return [...implicit, ...written]
  }
}

/** What JSX imports where the configuration says from where, and the text does not. */
export function findImplicit(
  config: ValConfig | undefined,
  code: string,
  path: string,
): readonly WrittenPackage[] {
  const source = findJsxSource(config?.compiler, code, path)
  if (!config || source === undefined) return []
  const specifier = `${source}/jsx-runtime`
  return [{ specifier: resolveMapped(config.map, specifier, path) ?? specifier, start: 0, end: 0 }]
}

function findJsxSource(
  settings: CompilerSettings | undefined,
  code: string,
  path: string,
): string | undefined {
  if (settings?.jsx !== "automatic" || !toModuleType(path).endsWith("sx")) return undefined
  return toPragma(settings, code) === "" ? undefined : settings.importSource
}

/** Whether files with this configuration can import packages that they do not name. */
export function hasPackages({ map, compiler }: ValConfig, hosts: ImportHosts): boolean {
  const isRemote = (target: string) => isRemoteImport(target, hosts)
  return compiler?.jsx === "automatic" || listTargets(map).some(isRemote)
}
