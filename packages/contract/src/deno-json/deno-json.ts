// Without the schemas: the server and the editor read it alike.
import { type CompilerSettings, readCompilerSettings } from "./compiler-settings.ts"
import { type ImportMap, listEntries, readImportMap } from "./import-map.ts"
import { toPlainJson } from "./json-with-comments.ts"

/** What counts of the deno.json of a version. */
export interface ValConfig {
  readonly map: ImportMap
  readonly compiler: CompilerSettings | undefined
}

/** A deno.json that was read. */
export interface ReadConfig {
  /** Undefined if nothing in it counts. */
  readonly config: ValConfig | undefined
  /** What is wrong with it, as sentences for its author. It never stops a val. */
  readonly warnings: readonly string[]
}

/** The paths that a val's configuration may have. The first that exists counts. */
export const configPaths = ["deno.json", "deno.jsonc"] as const

/** Whether the file at a path may be the configuration of its val. */
export function isConfigPath(path: string): boolean {
  return (configPaths as readonly string[]).includes(path)
}

const limits = { charsMax: 32_768, warningsMax: 20, nameCharsMax: 100 }

/** Reads a deno.json. `imports`, `scopes` and `compilerOptions.jsx*` count. */
export function readConfig(path: string, text: string): ReadConfig {
  const warnings: string[] = []
  const parsed = parse(text, warnings)
  const value = Object.fromEntries(parsed === undefined ? [] : listEntries("it", parsed, warnings))
  if (value.importMap !== undefined)
    warnings.push("importMap is ignored: only the imports in this file count")
  const options = listEntries("compilerOptions", value.compilerOptions, warnings)
  const compiler = readCompilerSettings(Object.fromEntries(options))
  const { map, warnings: mapWarnings } = readImportMap(value)
  warnings.push(...mapWarnings, ...compiler.warnings)
  const isEmpty =
    map.imports.length === 0 && map.scopes.length === 0 && compiler.settings === undefined
  return {
    config: isEmpty ? undefined : { map, compiler: compiler.settings },
    warnings: warnings.slice(0, limits.warningsMax).map((warning) => `${path}: ${warning}`),
  }
}

/**
 * The libraries in `compilerOptions.lib`, such as `dom`. They count where code is checked, and not
 * where it runs.
 */
export function readTypeLibs(text: string): readonly string[] {
  const value = Object.fromEntries(listEntries("it", parse(text, []) ?? {}, []))
  const { lib } = Object.fromEntries(listEntries("compilerOptions", value.compilerOptions, []))
  return Array.isArray(lib) ? lib.filter((one) => typeof one === "string").map(toLowerCase) : []
}

const toLowerCase = (text: string) => text.toLowerCase()

/** What does not count in the file at a path that is saved, as sentences for its author. */
export function listConfigWarnings(path: string, text: string): readonly string[] {
  if (isConfigPath(path)) return readConfig(path, text).warnings
  const [name, range] = path === "package.json" ? (findDependency(text) ?? []) : []
  if (name === undefined) return []
  const example = JSON.stringify({ imports: { [name]: `npm:${name}@${range}` } })
  return [`${path}: its dependencies are ignored: a deno.json names packages, as in ${example}`]
}

/** The first dependency in a package.json. */
function findDependency(text: string): [name: string, range: string] | undefined {
  const parsed = parse(text, [])
  const read = (value: unknown, name: string): unknown =>
    new Map(listEntries(name, value, [])).get(name)
  const [first] = listEntries("dependencies", read(parsed, "dependencies"), [])
  if (!first || first[0].length > limits.nameCharsMax) return undefined
  const range = typeof first[1] === "string" ? first[1] : ""
  return [first[0], range.length > limits.nameCharsMax || range === "" ? "*" : range]
}

function parse(text: string, warnings: string[]): unknown {
  if (text.length > limits.charsMax) {
    warnings.push(`it is ignored: it has more than ${limits.charsMax} characters`)
    return undefined
  }
  try {
    const plain = toPlainJson(text)
    return plain.trim() === "" ? {} : JSON.parse(plain)
  } catch {
    warnings.push("it is ignored: it is not valid JSON")
    return undefined
  }
}
