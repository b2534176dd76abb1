import { type CompilerSettings, toPragma } from "@hamlet/contract/compiler-settings"
import { toOwnPath } from "@hamlet/contract/import-map"
import { toOwnJson } from "@hamlet/kit"
import { findImplicit } from "./text-packages.ts"
import type { VersionConfig } from "./version-configs.ts"
import type { WrittenImport } from "./written-imports.ts"

/** A replaced part of a text. */
export interface ConfigEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A file of a version with a configuration. */
interface ConfiguredFile {
  /** Its address, with the version. */
  readonly url: string
  readonly path: string
  readonly code: string
  readonly config: VersionConfig
}

/**
 * The edits that make a text mean the same without the configuration: names become the addresses that
 * they are mapped to, and a comment says how JSX is compiled. No line changes its number.
 */
export function listConfigEdits(
  { url, path, code, config }: ConfiguredFile,
  written: readonly WrittenImport[],
): readonly ConfigEdit[] {
  const root = url.slice(0, -path.length)
  const toAddress = (target: string) => {
    const own = toOwnPath(target)
    return own === undefined ? target : `${root}${own}`
  }
  const names = written.flatMap(({ specifier, start, end }) => {
    const target = config.find(specifier, path)
    if (target === undefined) return []
    const address = toAddress(target)
    if (/["'`]/.test(code.charAt(start))) return [{ start, end, text: toOwnJson(address) }]
    return address.endsWith(jsxEnding) ? [{ start, end, text: withoutEnding(address) }] : []
  })
  const resolved = Array.from(code.matchAll(resolvePattern), (match): ConfigEdit | undefined => {
    const [text, literal = "", , specifier = ""] = match
    const target = config.find(specifier, path)
    const end = match.index + text.length
    return target === undefined
      ? undefined
      : { start: end - literal.length, end, text: toOwnJson(toAddress(target)) }
  }).filter((edit) => edit !== undefined)
  return [...names, ...resolved, ...toPragmaEdits(config, code, path, toAddress)]
}

/** A call of `import.meta.resolve`, which no parser reports, and its literal. */
const resolvePattern = /\bimport\s*\.\s*meta\s*\.\s*resolve\s*\(\s*((["'`])([^"'`\\\n$]{1,600})\2)/g

const jsxEnding = "/jsx-runtime"

function withoutEnding(address: string): string {
  return address.slice(0, -jsxEnding.length)
}

function toPragmaEdits(
  config: VersionConfig,
  code: string,
  path: string,
  toAddress: (target: string) => string,
): readonly ConfigEdit[] {
  const [implicit] = findImplicit(config, code, path)
  const address = implicit && toAddress(implicit.specifier)
  const settings: CompilerSettings | undefined = address?.endsWith(jsxEnding)
    ? { jsx: "automatic", importSource: withoutEnding(address) }
    : config.compiler?.jsx === "classic"
      ? config.compiler
      : undefined
  const text = toPragma(settings, code)
  return text === "" ? [] : [{ start: 0, end: 0, text }]
}
