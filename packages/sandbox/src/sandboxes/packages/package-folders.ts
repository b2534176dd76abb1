import { copyFileSync, linkSync } from "node:fs"
import { copyFile, link, mkdir, rm, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { packagesScript } from "@hamlet/guest/protocol"
import type { StoredBundle } from "../../program/stored-bundle.ts"
import { type FileList, readArchive } from "./file-archive.ts"

const limits = {
  /** The size of the files that are kept unpacked. */
  bytesMax: 256 * 1024 ** 2,
  /** Files that are created at the same time. */
  atOnceMax: 64,
  /** To compile more without a code cache takes longer than to load what reads one. */
  plainBytesMax: 1024 ** 2,
}

/**
 * Bundles and the files of their packages, unpacked once per server. Each sandbox gets hard links
 * to them in its own folder, so that it sees those of its own packages only, and none of them is
 * copied. A sandbox keeps its links when the files here are removed.
 */
export class PackageFolders {
  readonly #folder: string
  /** By hash, the least recently used first. */
  readonly #unpacked = new Map<string, Unpacked>()
  #count = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * Puts a bundle into a folder: its whole script and the code cache as files that have the hash as their
   * name, and the files of its packages as a folder of that name.
   */
  async provide(bundle: StoredBundle, folder: string): Promise<{ readonly isPlain: boolean }> {
    const unpacked = this.#use(bundle)
    unpacked.users++
    try {
      const { list, hasCache } = await unpacked.content
      const target = join(folder, bundle.hash)
      // At once: with threads it would take longer, and the first response of a program waits for it.
      for (const end of hasCache ? [".js", ".cache"] : [".js"])
        linkOrCopySync(`${unpacked.path}/bundle${end}`, `${target}${end}`)
      if (list)
        await createTree(list, target, (index, path) =>
          linkOrCopy(join(unpacked.path, String(index)), path),
        )
    } finally {
      unpacked.users--
    }
    await this.#evict()
    return await unpacked.content
  }

  #use(bundle: StoredBundle): Unpacked {
    const { hash } = bundle
    const known = this.#unpacked.get(hash)
    const path = known?.path ?? join(this.#folder, `${this.#count++}`)
    const unpacked = known ?? { path, content: unpack(path, bundle), bytes: 0, users: 0 }
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

/** The folder with the packages of a program, inside of Deno's cache folder. */
export function toPackagesFolder(denoDir: string): string {
  return join(denoDir, "packages")
}

/** Hashes become file names. */
export function assertHash(hash: string): void {
  if (!hashPattern.test(hash))
    throw new Error(`Cannot put bundle "${hash}" into the sandbox: its name is not a hash`)
}

const hashPattern = /^[0-9a-f]{64}$/

interface Unpacked {
  /** The files of packages are in this folder, named by their index in the list. */
  readonly path: string
  readonly content: Promise<UnpackedBundle>
  bytes: number
  /** Processes that are being given the files. */
  users: number
}

interface UnpackedBundle {
  /** The files of its packages. */
  readonly list: FileList | undefined
  readonly hasCache: boolean
  /** Whether it is small and does not seem to use Node. A wrong guess takes time only. */
  readonly isPlain: boolean
  readonly bytes: number
}

const before = Buffer.from(packagesScript.before)
const after = Buffer.from(packagesScript.after)

async function unpack(folder: string, bundle: StoredBundle): Promise<UnpackedBundle> {
  const { code, cache } = await bundle.read()
  const archive = bundle.files && (await readArchive(await bundle.files.read()))
  const contents = archive?.contents ?? []
  const write = (name: string, content: Uint8Array) =>
    writeFile(join(folder, name), content, { mode: 0o644 })
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // The script is written as one text, because V8 would have to join its parts in each process.
    await write("bundle.js", Buffer.concat([before, code, after]))
    if (cache) await write("bundle.cache", cache)
    await forEach(contents, (content, index) => write(String(index), content))
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
  const bytes = contents.reduce((sum, content) => sum + content.length, bundle.bytes)
  const isPlain = code.length <= limits.plainBytesMax && !usesNode(Buffer.from(code))
  return { list: archive?.list, hasCache: cache !== null, isPlain, bytes }
}

/** What code contains that uses Node: then its modules are loaded anyway. */
const nodeMarks = [
  'require("',
  "require.at(",
  "process.env",
  "process.nextTick",
  "process.platform",
  "process.version",
  "Buffer.",
]

function usesNode(code: Buffer): boolean {
  return nodeMarks.some((mark) => code.includes(mark))
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

/** A hard link, or a copy where there are none. */
export function linkOrCopySync(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to)
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
