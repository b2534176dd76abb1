import { findPathProblem } from "@hamlet/contract/file-paths"
import { toOwnPath } from "@hamlet/contract/import-map"
import { createTimeSlice, RecentMap, repeatText } from "@hamlet/kit"
import { mayImport } from "../import-address.ts"
import { findImplicit } from "../imports/text-packages.ts"
import type { VersionConfig } from "../imports/version-configs.ts"
import { isModulePath, type VersionFile, type VersionFileStore } from "./version-files.ts"

/** What the text of a file says about the program that it is part of. It never changes. */
export interface ModuleText {
  /** The version in which the text was saved. */
  readonly since: number
  /** Whether it may import anything. */
  readonly mayImport: boolean
  /** The relative paths in it, or that it means, which may be imports of other files. */
  readonly files: readonly string[]
  /** The addresses that it means by names of the configuration of its version. */
  readonly mapped: readonly string[]
  /** Whether it may import packages. A false is exact: the program then needs no lockfile for it. */
  readonly mayHavePackages: boolean
  /** Whether it may import files as text or bytes, which are no modules. */
  readonly importsTexts: boolean
  /** Whether it may import any file of its version, by a name that it computes. */
  readonly importsComputed: boolean
  /** Whether it can read all files of its val, imported or not. */
  readonly readsFiles: boolean
}

/** Reads the texts of files, each once. */
export type ModuleTexts = ReturnType<typeof createModuleTexts>

const limits = {
  /** Paths in one text. */
  filesMax: 1_000,
  /** Strings in one text that the configuration is asked about. */
  stringsMax: 2_000,
  relativeCharsMax: 100,
}

/** Caches what is known of texts. A key identifies a file in a version. */
export function createModuleTexts(files: VersionFileStore, cachedMax: number) {
  const known = new RecentMap<string, ModuleText | undefined>(cachedMax)
  const keep = (key: string, text: ModuleText | undefined) => {
    known.set(key, text)
    return text
  }
  const pace = createTimeSlice()
  let last: Promise<unknown> = Promise.resolve()
  /** One after the other, with other work between them: a program may have many long texts. */
  const readInTurn = (...text: Parameters<typeof toModuleText>) => {
    const reading = last.then(pace).then(() => toModuleText(...text))
    last = reading.catch(() => {})
    return reading
  }
  return {
    /** The text of a file that was read, in a version with that configuration. */
    note(
      key: string,
      path: string,
      file: Pick<VersionFile, "since" | "content">,
      config: VersionConfig | null,
    ): ModuleText {
      const text = known.get(key)
      if (text) return text
      const read = toModuleText(path, file, config)
      keep(key, read)
      return read
    },
    /**
     * Undefined when the version has no such file, or it cannot be a module. Any file can be imported
     * as text.
     */
    async find(
      key: string,
      branchId: string,
      version: number,
      path: string,
      config: VersionConfig | null,
      isText = false,
    ): Promise<ModuleText | undefined> {
      if (known.has(key)) return known.get(key)
      const isModule = isModulePath(path)
      if (findPathProblem(path) !== undefined || !(isModule || isText)) return undefined
      const file = await files.find(branchId, version, path)
      if (file && !isModule) return keep(key, { ...plainText, since: file.since })
      return keep(key, file && (await readInTurn(path, file, config)))
    },
  }
}

/** What is known of a file that is no module. */
const plainText = {
  mayImport: false,
  files: [],
  mapped: [],
  mayHavePackages: false,
  importsTexts: false,
  importsComputed: false,
  readsFiles: false,
}

/**
 * Paths are searched as text, which is faster than a parser: one in a string that is not an import
 * only adds an unused module.
 */
function toModuleText(
  path: string,
  { since, content }: Pick<VersionFile, "since" | "content">,
  config: VersionConfig | null,
): ModuleText {
  const isImporting = mayImport(content)
  const files = new Set<string>()
  const mapped = new Set<string>()
  if (isImporting && content.includes("./"))
    for (const [, , file = ""] of content.matchAll(relativePattern)) {
      if (files.size >= limits.filesMax) break
      files.add(file)
    }
  for (const target of config ? listMapped(config, content, path) : []) {
    if (files.size + mapped.size >= limits.filesMax) break
    const own = toOwnPath(target)
    if (own === undefined) mapped.add(target)
    else files.add(toRelative(path, own))
  }
  return {
    since,
    mayImport: isImporting,
    files: [...files],
    mapped: [...mapped],
    mayHavePackages:
      mapped.size > 0 ||
      files.size >= limits.filesMax ||
      (isImporting && packagePattern.test(content)),
    importsTexts: isImporting && textTypePattern.test(content),
    importsComputed: isImporting && computedPattern.test(content),
    readsFiles: readingPattern.test(content) || [...mapped].some((one) => readingPattern.test(one)),
  }
}

/** The targets of the strings of a text, and of what its JSX imports. */
function* listMapped(config: VersionConfig, content: string, path: string): Generator<string> {
  const strings = new Set<string>()
  for (const { specifier } of findImplicit(config, content, path)) yield specifier
  for (const [, , text = ""] of mayImport(content) ? content.matchAll(stringPattern) : []) {
    if (strings.has(text)) continue
    if (strings.size >= limits.stringsMax) return
    strings.add(text)
    const target = config.find(text, path)
    if (target !== undefined) yield target
  }
}

/** The path of a file of the same version, relative to another one. */
function toRelative(from: string, path: string): string {
  const depth = from.split("/").length - 1
  return `${depth === 0 ? "./" : repeatText("../", depth, limits.relativeCharsMax)}${path}`
}

const relativePattern = /(["'`])(\.\.?\/[^"'`\s\\]{1,600})\1/g
const stringPattern = /(["'`])(?=([^"'`\s\\]{1,600})\1)/g
/**
 * A string that may be the specifier of a package, also with escapes, or one of a module that does not
 * exist, about which the lockfile has an error.
 */
const packagePattern =
  /["'`]\s*(?:(?:npm|jsr|https?):|[a-z]{0,5}\\[xu\r\njsphm:]|\/|(?:\.\.?\/)+std\/)|@jsxImportSource|\bcreateRequire\b/i
/** The import attribute of a text. */
const textTypePattern = /\btype["'`]?\s*:\s*["'`](?:text|bytes)["'`]/
/** A call of `import` that does not begin with a string; with a template, it may be computed. */
const computedPattern = /\bimport\s*\(\s*(?!["'\s])/
/** What reads files of the val: of the standard library, of Deno or of Node. */
const readingPattern = /\bstd\/utils\b|\bread(?:Text)?File\b/i
