import { copyFile, link, mkdir, rm, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { BundleFiles } from "../../../domain/modules/lockfiles.ts"
import { type FileList, readArchive } from "./file-archive.ts"

const limits = {
  /** The size of the files that are kept unpacked. */
  bytesMax: 256 * 1024 ** 2,
  /** Files that are created at the same time. */
  atOnceMax: 64,
}

interface UnpackedFiles {
  readonly list: FileList
  readonly bytes: number
}

/**
 * The files of packages, unpacked once per server. Each sandbox gets hard links to them in its own
 * folder, so that it sees the files of its own packages only, and none of them is copied. A sandbox
 * keeps its links when the files here are removed.
 */
export class PackageFolders {
  readonly #folder: string
  /** By hash, the least recently used first. */
  readonly #unpacked = new Map<string, Unpacked>()
  #count = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Puts the files into a new folder. */
  async provide(hash: string, files: BundleFiles, target: string): Promise<void> {
    const unpacked = this.#use(hash, files)
    unpacked.users++
    try {
      const { list } = await unpacked.content
      await createTree(list, target, (index, path) =>
        linkOrCopy(join(unpacked.path, String(index)), path),
      )
    } finally {
      unpacked.users--
    }
    await this.#evict()
  }

  #use(hash: string, files: BundleFiles): Unpacked {
    const known = this.#unpacked.get(hash)
    const path = known?.path ?? join(this.#folder, `${this.#count++}`)
    const unpacked = known ?? { path, content: unpack(path, files), bytes: 0, users: 0 }
    this.#unpacked.delete(hash)
    this.#unpacked.set(hash, unpacked)
    if (!known)
      unpacked.content.then(
        ({ bytes }) => {
          unpacked.bytes = bytes
        },
        // The next process tries again.
        () => this.#unpacked.delete(hash),
      )
    return unpacked
  }

  /** Removes the files that were not used for longest. */
  async #evict(): Promise<void> {
    let bytes = this.#unpacked.values().reduce((sum, one) => sum + one.bytes, 0)
    for (const [hash, one] of this.#unpacked) {
      if (bytes <= limits.bytesMax) return
      if (one.users > 0) continue
      bytes -= one.bytes
      this.#unpacked.delete(hash)
      await rm(one.path, { recursive: true, force: true })
    }
  }
}

interface Unpacked {
  /** The files are in this folder, named by their index in the list. */
  readonly path: string
  readonly content: Promise<UnpackedFiles>
  bytes: number
  /** Processes that are being given the files. */
  users: number
}

async function unpack(folder: string, files: BundleFiles): Promise<UnpackedFiles> {
  const { list, contents } = await readArchive(await files.read())
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await forEach(contents, (content, index) =>
      writeFile(join(folder, String(index)), content, { mode: 0o644 }),
    )
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
  return { list, bytes: contents.reduce((sum, content) => sum + content.length, 0) }
}

/** The links come last, so that nothing is written through one. */
async function createTree(
  { files, links }: FileList,
  folder: string,
  create: (index: number, path: string) => Promise<void>,
): Promise<void> {
  const folders = new Set([...files, ...links].map(([path]) => dirname(join(folder, path))))
  await forEach([...folders], (path) => mkdir(path, { recursive: true, mode: 0o755 }))
  await forEach(files, ([path], index) => create(index, join(folder, path)))
  await forEach(links, ([path, target]) => symlink(target, join(folder, path)))
}

/** A file system may have no hard links, or a limit of them. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch {
    await copyFile(from, to)
  }
}

async function forEach<Item>(
  items: readonly Item[],
  act: (item: Item, index: number) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < items.length; from += limits.atOnceMax)
    await Promise.all(
      items.slice(from, from + limits.atOnceMax).map((item, index) => act(item, from + index)),
    )
}
