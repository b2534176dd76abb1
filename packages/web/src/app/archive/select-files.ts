import { findPathProblem, toFileName, toParentPath } from "@hamlet/contract/file-paths"
import { findNamedType, guessFileType } from "@hamlet/contract/file-types"
import { limits } from "@hamlet/contract/limits"
import { fileTypes } from "@hamlet/contract/lists"

/** The types of files, without folders. */
export type ContentType = Exclude<(typeof fileTypes)[number], "directory">

/** A file that is imported, or that a template has. */
export interface ValFile {
  readonly path: string
  readonly type: ContentType
  readonly content: string
}

/** A file in a folder or archive: what is known before it is read. */
export interface FileSource {
  readonly path: string
  readonly bytes: number
  /** What an archive says of its type. */
  readonly type?: string | undefined
  /** Why it cannot be read, as a clause. */
  readonly problem?: string | undefined
  read(): Promise<Uint8Array>
}

/** A file that is left out, and why, as a clause. */
export interface SkippedFile {
  readonly path: string
  readonly problem: string
}

/** What a folder or archive contains. */
export interface SelectedFiles {
  /** The folder that everything was in, which is not part of the paths. */
  readonly folder: string | undefined
  /** By path. */
  readonly files: readonly ValFile[]
  readonly skipped: readonly SkippedFile[]
}

const ignoredFolders = new Set([".git", ".hamlet", ".vt", "__MACOSX", "node_modules"])
const ignoredFiles = new Set([".DS_Store", "Thumbs.db", "desktop.ini"])
const binary =
  /\.(?:7z|avif|bin|bmp|bz2|class|dll|dylib|eot|exe|gif|gz|ico|jar|jpe?g|m4a|mov|mp[34]|o|ogg|otf|pdf|png|psd|pyc|rar|so|sqlite3?|tar|tgz|tiff?|ttf|wasm|wav|web[mp]|woff2?|xz|zip)$/i
/** A character of a text takes at most three bytes for each of its units. */
const fileBytesMax = limits.codeCharsMax * 3

/** Whether a folder or file never belongs to a val; it is not even reported. */
export function isIgnored(path: string): boolean {
  const names = path.split("/")
  return ignoredFiles.has(names.at(-1) ?? "") || names.some((name) => ignoredFolders.has(name))
}

/**
 * Chooses the files that a val can have, and reads them. The limits are checked against what the
 * sources declare before the first is read, and a source never gives more than it declares.
 */
export async function selectFiles(
  sources: readonly FileSource[],
  { keepsFolder = false }: { readonly keepsFolder?: boolean } = {},
): Promise<SelectedFiles> {
  const found = sources.filter(({ path }) => !isIgnored(path))
  const folder = keepsFolder ? undefined : findFolder(found)
  const inside = folder === undefined ? found : found.map((one) => withoutFolder(one, folder))
  const paths = new Set(inside.map(({ path }) => path))
  const skipped: SkippedFile[] = []
  const wanted = inside.filter((source) => {
    const problem = findProblem(source, paths)
    if (problem !== undefined) skipped.push({ path: source.path, problem })
    return problem === undefined
  })
  assertFits(wanted)
  const files: ValFile[] = []
  for (const source of wanted) {
    const content = toText(await source.read())
    if (typeof content !== "string") skipped.push({ path: source.path, ...content })
    else files.push({ path: source.path, type: toType(source), content })
  }
  return { folder, files: files.sort(byPath), skipped: skipped.sort(byPath) }
}

/** The folder that everything is in; its name may be one that no file of a val can have. */
function findFolder(sources: readonly FileSource[]): string | undefined {
  const [first] = sources
  const name = first?.path.split("/", 1)[0] ?? ""
  if (name === "" || name === "." || name === "..") return undefined
  return sources.every(({ path }) => path.startsWith(`${name}/`)) ? name : undefined
}

function withoutFolder(source: FileSource, folder: string): FileSource {
  return { ...source, path: source.path.slice(folder.length + 1) }
}

function findProblem(source: FileSource, paths: ReadonlySet<string>): string | undefined {
  const { path, bytes, problem } = source
  const pathProblem = findPathProblem(path)
  if (pathProblem !== undefined) return `the path ${pathProblem}`
  if (problem !== undefined) return problem
  if (/^\.env(?:\.|$)/.test(toFileName(path))) return "it may contain secrets"
  if (binary.test(path)) return "it is not text"
  if (bytes > fileBytesMax) return tooLong
  for (let above = toParentPath(path); above !== ""; above = toParentPath(above))
    if (paths.has(above)) return `"${above}" is a file`
  return undefined
}

const tooLong = `it has more than ${limits.codeCharsMax.toLocaleString("en")} characters`

function assertFits(sources: readonly FileSource[]): void {
  const { filesPerVersionMax, versionBytesMax } = limits
  if (sources.length > filesPerVersionMax)
    throw new Error(
      `Cannot import ${sources.length.toLocaleString("en")} files: a val has at most ${filesPerVersionMax.toLocaleString("en")}`,
    )
  const bytes = sources.reduce((sum, one) => sum + one.bytes, 0)
  if (bytes > versionBytesMax)
    throw new Error(
      `Cannot import ${(bytes / 1_000_000).toFixed(1)} MB: a val has at most ${versionBytesMax / 1_000_000} MB`,
    )
}

/** Bytes stay the same when they are saved again: a mark of the byte order is part of the text. */
function toText(bytes: Uint8Array): string | { readonly problem: string } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
    if (text.includes("\0")) return { problem: "it is not text" }
    return text.length > limits.codeCharsMax ? { problem: tooLong } : text
  } catch {
    return { problem: "it is not text" }
  }
}

function toType({ path, type }: FileSource): ContentType {
  const known = fileTypes.find((one) => one === type)
  return known && known !== "directory" ? known : (findNamedType(path) ?? guessFileType(path))
}

function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : 1
}
