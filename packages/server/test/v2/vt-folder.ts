import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises"
import { basename, dirname, join, relative } from "node:path"
import type { TextType, ValFile } from "./sdk-records.ts"

const stateFile = ".vt/state.json"
const segmentPattern = /^[a-zA-Z0-9$[\]()\-_.]+$/
const segmentCharsMax = 80
const contentCharsMax = 80_000

/** What a folder is checked out to. */
export interface VtState {
  readonly valId: string
  readonly branchId: string
  readonly version: number
}

/** A file or a directory in a folder. */
export interface LocalItem {
  readonly path: string
  readonly isDirectory: boolean
  readonly mtimeMs: number
  readonly content: string
}

/** The folder of a val, with the state that `vt` keeps in it. */
export class VtFolder {
  #edits = 0

  constructor(readonly root: string) {}

  async loadState(): Promise<VtState> {
    return JSON.parse(await readFile(join(this.root, stateFile), "utf8"))
  }

  async saveState(state: VtState): Promise<void> {
    await this.write(stateFile, JSON.stringify(state))
  }

  /** Makes the folder an ordinary one. */
  async forget(): Promise<void> {
    await rm(join(this.root, dirname(stateFile)), { recursive: true })
  }

  /** Everything in the folder, parents before their contents. */
  async list(): Promise<LocalItem[]> {
    await mkdir(this.root, { recursive: true })
    const entries = await readdir(this.root, { recursive: true, withFileTypes: true })
    const paths = entries
      .map((entry) => ({
        path: relative(this.root, join(entry.parentPath, entry.name)),
        isDirectory: entry.isDirectory(),
      }))
      .filter(({ path }) => path !== ".vt" && !path.startsWith(".vt/"))
    paths.sort((one, other) => (one.path < other.path ? -1 : 1))
    return Promise.all(
      paths.map(async ({ path, isDirectory }) => ({
        path,
        isDirectory,
        mtimeMs: (await stat(join(this.root, path))).mtime.getTime(),
        content: isDirectory ? "" : await this.read(path),
      })),
    )
  }

  read(path: string): Promise<string> {
    return readFile(join(this.root, path), "utf8")
  }

  /**
   * Edits a file. It gets a time that no file of the server has: both clocks are the same here, and an
   * edit in the very millisecond of a push would not be one.
   */
  async write(path: string, content: string): Promise<void> {
    this.#edits += 1
    await this.#write(path, content, new Date(this.#edits))
  }

  async makeDirectory(path: string): Promise<void> {
    await mkdir(join(this.root, path), { recursive: true })
  }

  async remove(path: string): Promise<void> {
    await rm(join(this.root, path), { recursive: true, force: true })
  }

  /** Writes a file of the server, with the time at which it changed there. */
  async download({ path, updatedAt }: ValFile, content: string): Promise<void> {
    await this.#write(path, content, new Date(updatedAt))
  }

  async #write(path: string, content: string, at: Date): Promise<void> {
    await mkdir(dirname(join(this.root, path)), { recursive: true })
    await writeFile(join(this.root, path), content)
    await utimes(join(this.root, path), at, at)
  }
}

/** Why `vt` would not send an item. */
export function findWarnings({ path, isDirectory, content }: LocalItem): string[] {
  const name = basename(path)
  const found: [warning: string, isFound: boolean][] = [
    ["bad_name", name.length > segmentCharsMax || !segmentPattern.test(name)],
    ["binary", content.includes("\0")],
    ["empty", !isDirectory && content === ""],
    ["too_large", content.length > contentCharsMax],
  ]
  return found.filter(([, isFound]) => isFound).map(([warning]) => warning)
}

/** The type of a new file, by its path. */
export function guessType(path: string): TextType {
  if (!/\.(ts|tsx|js|jsx)$/.test(path)) return "file"
  const words: [word: string, type: TextType][] = [
    ["cron", "interval"],
    ["http", "http"],
    ["email", "email"],
  ]
  const [found, another] = words.filter(([word]) => path.includes(word))
  return found === undefined || another !== undefined ? "script" : found[1]
}
