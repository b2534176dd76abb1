import type { CompilerSettings } from "@hamlet/contract/compiler-settings"
import { configPaths, readConfig, readTypeLibs, type ValConfig } from "@hamlet/contract/deno-json"
import { type ImportMap, resolveMapped, toOwnPath } from "@hamlet/contract/import-map"
import { toRoot } from "./module-address.ts"

/** A specifier, and the file that it is relative to. */
export interface WrittenImport {
  readonly specifier: string
  readonly importer: string
}

/** What the import map of a val makes of a specifier in a file of it. */
export function toMapped(
  map: ImportMap | undefined,
  { specifier, importer }: WrittenImport,
): WrittenImport {
  const root = toRoot(importer)
  const target = map && root && resolveMapped(map, specifier, importer.slice(root.length))
  if (target === undefined || target === "" || root === undefined) return { specifier, importer }
  const own = toOwnPath(target)
  return own === undefined
    ? { specifier: target, importer }
    : { specifier: `./${own}`, importer: `${root}deno.json` }
}

/** The import map of a val, whose files are read as far as it is needed. */
export async function loadMap(
  read: (path: string) => Promise<string | undefined>,
): Promise<ImportMap | undefined> {
  for (const path of configPaths) {
    const text = await read(path)
    if (text !== undefined) return readConfig(path, text).config?.map
  }
  return undefined
}

/** The deno.json of vals whose files are open. */
export interface ValConfigs {
  /** Whether a file is one, and has changed what it means. */
  note(fileName: string, text: string | undefined): boolean
  map(written: WrittenImport): WrittenImport
  /** The names that files of the same val may import by the map. */
  listNames(importer: string): readonly string[]
  /** How JSX is checked. One val is open at a time. */
  findCompiler(): CompilerSettings | undefined
  /** Whether the val asks for the types of the DOM in all of its files. */
  wantsDom(fileName: string): boolean
}

export function createValConfigs(): ValConfigs {
  const texts = new Map<string, string>()
  const configs = new Map<string, ValConfig>()
  const dom = new Set<string>()
  const find = (importer: string) => configs.get(toRoot(importer) ?? "")
  return {
    note(fileName, text) {
      const root = toRoot(fileName)
      const path = fileName.slice(root?.length ?? 0)
      if (root === undefined || !configPaths.some((one) => one === path)) return false
      if (texts.get(fileName) === text) return false
      if (text === undefined) texts.delete(fileName)
      else texts.set(fileName, text)
      const used = configPaths.find((one) => texts.has(root + one))
      const config = used && readConfig(used, texts.get(root + used) ?? "").config
      const libs = used ? readTypeLibs(texts.get(root + used) ?? "") : []
      if (libs.includes("dom")) dom.add(root)
      else dom.delete(root)
      if (config) configs.set(root, config)
      else configs.delete(root)
      return true
    },
    map: (written) => toMapped(find(written.importer)?.map, written),
    listNames(importer) {
      const names = find(importer)?.map.imports.map(([key]) => key) ?? []
      return names.filter((name) => !/[/:]$|^val:/.test(name))
    },
    wantsDom: (fileName) => dom.has(toRoot(fileName) ?? ""),
    findCompiler: () => [...configs.values()].find(({ compiler }) => compiler)?.compiler,
  }
}
