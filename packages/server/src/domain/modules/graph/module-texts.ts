import { findPathProblem } from "@hamlet/contract/file-paths"
import { mayImport } from "../import-address.ts"
import { isModulePath, type VersionFile, type VersionFileStore } from "./version-files.ts"

/** What the text of a file says about the program that it is part of. It never changes. */
export interface ModuleText {
  /** The version in which the text was saved. */
  readonly since: number
  /** Whether it may import anything. */
  readonly mayImport: boolean
  /** The relative paths in it that may be imports of other files. */
  readonly files: readonly string[]
  /** Whether it can read all files of its val, imported or not. */
  readonly readsFiles: boolean
}

/** Reads the texts of files, each once. */
export interface ModuleTexts {
  /** The text of a file that was read. */
  note(key: string, file: Pick<VersionFile, "since" | "content">): ModuleText
  /** Undefined when the version has no such file, or it cannot be a module. */
  find(
    key: string,
    branchId: string,
    version: number,
    path: string,
  ): Promise<ModuleText | undefined>
}

const limits = {
  /** Paths in one text. */
  filesMax: 1_000,
}

/** Caches what is known of texts. A key identifies a file in a version. */
export function createModuleTexts(files: VersionFileStore, cachedMax: number): ModuleTexts {
  const known = new Map<string, ModuleText | undefined>()
  const keep = (key: string, text: ModuleText | undefined) => {
    if (known.size >= cachedMax) known.clear()
    known.set(key, text)
    return text
  }
  return {
    note(key, { since, content }) {
      const text = known.get(key)
      if (text) return text
      const read = toModuleText(since, content)
      keep(key, read)
      return read
    },
    async find(key, branchId, version, path) {
      if (known.has(key)) return known.get(key)
      if (findPathProblem(path) !== undefined || !isModulePath(path)) return undefined
      const file = await files.find(branchId, version, path)
      return keep(key, file && toModuleText(file.since, file.content))
    },
  }
}

/**
 * Paths are searched as text, which is faster than a parser: one in a string that is not an import
 * only adds an unused module.
 */
function toModuleText(since: number, content: string): ModuleText {
  const isImporting = mayImport(content)
  const files = new Set<string>()
  if (isImporting && content.includes("./"))
    for (const [, , path = ""] of content.matchAll(relativePattern)) {
      if (files.size >= limits.filesMax) break
      files.add(path)
    }
  return {
    since,
    mayImport: isImporting,
    files: [...files],
    readsFiles: utilsPattern.test(content),
  }
}

const relativePattern = /(["'`])(\.\.?\/[^"'`\s\\]{1,600})\1/g
const utilsPattern = /\bstd\/utils\b/i
