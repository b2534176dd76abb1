import { closeSync, type Dirent, openSync, readdirSync, readSync, statSync } from "node:fs"
import { extname, join } from "node:path"
import { CliError } from "../cli-error.ts"
import { isValFile, readBytes } from "../files/val-file.ts"
import { manifestPath } from "./archive-format.ts"
import { archiveLimits as limits } from "./archive-limits.ts"
import { openZip } from "./zip-reader.ts"

/** The source of an import: a zip file or a folder, with code files or JSON files. */
export interface ImportSource extends Disposable {
  /** The files that contain vals, in a fixed order. */
  readonly paths: readonly string[]
  read(path: string): Promise<Uint8Array>
  /** The manifest of an archive that "hamlet export" wrote. */
  readManifest(): Promise<Uint8Array | undefined>
}

/**
 * Opens a zip file or a folder. If it contains code files, those are the vals; otherwise each JSON
 * file is one.
 */
export async function openImportSource(path: string): Promise<ImportSource> {
  const source = await openFiles(path)
  const all = source.paths.filter((name) => !isIgnored(name)).sort()
  const code = all.filter(isValFile)
  const paths =
    code.length > 0
      ? code
      : all.filter((name) => extname(name) === ".json" && name !== manifestPath)
  if (paths.length === 0) {
    source[Symbol.dispose]()
    throw new CliError("usage", `Cannot import "${path}": it contains no .json, .ts or .tsx files`)
  }
  const hasManifest = code.length === 0 && all.includes(manifestPath)
  return {
    ...source,
    paths,
    readManifest: async () => (hasManifest ? source.read(manifestPath) : undefined),
  }
}

type Files = Omit<ImportSource, "readManifest">

async function openFiles(path: string): Promise<Files> {
  const found = statOf(path)
  if (found.isDirectory()) return openFolder(path)
  if (!found.isFile() || !isZip(path))
    throw new CliError("usage", `Cannot import "${path}": it is neither a zip file nor a folder`, {
      advice: 'save single files with "hamlet val push"',
    })
  const zip = await openZip(path)
  return {
    paths: zip.paths.filter((name) => !name.endsWith("/")),
    read: zip.read,
    [Symbol.dispose]: () => void zip.close(),
  }
}

function statOf(path: string) {
  try {
    return statSync(path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT")
      throw new CliError("notFound", `Cannot import "${path}": it does not exist`, {
        cause,
      })
    throw new CliError("failed", `Cannot import "${path}": ${(cause as Error).message}`, { cause })
  }
}

/** Checks the first bytes: an empty zip file starts with the end record. */
function isZip(path: string): boolean {
  const file = openSync(path, "r")
  try {
    const start = Buffer.alloc(4)
    readSync(file, start, 0, 4, 0)
    return start.equals(Buffer.from("PK\x03\x04")) || start.equals(Buffer.from("PK\x05\x06"))
  } finally {
    closeSync(file)
  }
}

function openFolder(folder: string): Files {
  return {
    paths: [...walk(folder, "", 0)],
    read: async (name) => readBytes(join(folder, name), limits.entryBytesMax),
    [Symbol.dispose]: () => {},
  }
}

function* walk(folder: string, inner: string, level: number): Generator<string> {
  if (level > limits.levelsMax)
    throw new CliError(
      "failed",
      `Cannot read "${join(folder, inner)}": it is ${level} folders deep`,
    )
  for (const found of listFolder(join(folder, inner))) {
    const name = inner === "" ? found.name : `${inner}/${found.name}`
    // Links to folders are not followed, because they may form a cycle.
    if (found.isDirectory() && !isIgnored(name)) yield* walk(folder, name, level + 1)
    else if (found.isFile() || found.isSymbolicLink()) yield name
  }
}

function listFolder(path: string): readonly Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (cause) {
    throw new CliError("failed", `Cannot read "${path}": ${(cause as Error).message}`, { cause })
  }
}

/** Hidden files belong to tools, but that of the val `.config`; installed packages are not vals. */
function isIgnored(path: string): boolean {
  return path
    .split("/")
    .some(
      (part) =>
        (part.startsWith(".") && part !== ".config.json") ||
        part === "node_modules" ||
        part === "__MACOSX",
    )
}
