import { linkSync, mkdirSync, unlinkSync } from "node:fs"
import { mkdir, rm, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { ProgramModule } from "../program/program-module.ts"
import { toCachePath } from "../sandboxes/module-cache.ts"
import { linkOrCopySync } from "../sandboxes/packages/package-folders.ts"
import { isTranspiled, toEmitKey } from "./emit-file.ts"

const limits = {
  /** The size of all files. */
  bytesMax: 256 * 1024 ** 2,
}

/**
 * Where Deno writes what it has transpiled itself: a small file system of the sandbox. If it could
 * not write, it would try for 150 ms while the program waits.
 */
export const insideEmits = { inside: "/emits", bytesMax: 4 * 1024 ** 2 }

/** The folder of transpiled modules in Deno's cache folder. */
export function toEmitsFolder(denoDir: string): string {
  return join(denoDir, "gen")
}

/**
 * The files that Deno's cache has of programs' modules: for each text its JavaScript, and the text
 * itself. A process gets hard links to those of its program, so that nothing is transpiled or written
 * when it loads them. They last as long as the server.
 */
export class EmitFolder {
  readonly folder: string
  /** The folder of the modules of programs, below that of all transpiled modules. */
  readonly #place: string
  readonly #onMissing: (modules: readonly ProgramModule[]) => void
  /** The sizes of the files by key, the least recently used first. */
  readonly #files = new Map<string, number>()
  readonly #bytesMax: number
  #bytes = 0

  /** `onMissing` gets the modules that a process will transpile. */
  constructor(
    folder: string,
    baseUrl: string,
    onMissing: (modules: readonly ProgramModule[]) => void,
    bytesMax = limits.bytesMax,
  ) {
    this.folder = folder
    this.#bytesMax = bytesMax
    this.#place = dirname(toCachePath(baseUrl))
    this.#onMissing = onMissing
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }

  has(key: string): boolean {
    return this.#files.has(key)
  }

  /** Adds the files of a text. See `toEmitFile` and `toModuleFile`. */
  async add(key: string, javascript: Uint8Array, module: Uint8Array): Promise<void> {
    if (this.has(key)) return
    const mode = { mode: 0o644 }
    await writeFile(this.#toPath(key), javascript, mode)
    await writeFile(this.#toModulePath(key), module, mode)
    const added = javascript.length + module.length
    this.#files.set(key, added)
    this.#bytes += added
    for (const [oldest, bytes] of this.#files) {
      if (this.#bytes <= this.#bytesMax) return
      this.#files.delete(oldest)
      this.#bytes -= bytes
      await rm(this.#toPath(oldest), { force: true })
      await rm(this.#toModulePath(oldest), { force: true })
    }
  }

  /** Lets a new process keep what it transpiles to itself. */
  async prepare(denoDir: string): Promise<void> {
    const folder = toEmitsFolder(denoDir)
    await mkdir(join(folder, dirname(this.#place)))
    for (const name of [this.#place, "file", "data", "blob"])
      await symlink(insideEmits.inside, join(folder, name))
  }

  /** Links the file of a module to a path in the folder of a process. Returns whether there is one. */
  link(module: ProgramModule, path: string): boolean {
    const key = isTranspiled(module) ? this.#use(toEmitKey(module)) : undefined
    if (key === undefined) return false
    try {
      linkSync(this.#toModulePath(key), path)
      return true
    } catch {
      // A file system may have no hard links, or a limit of them.
      return false
    }
  }

  /**
   * Gives the JavaScript of the modules to a process that has not loaded them yet. All or none: the
   * process cannot write to a folder with files of the host, and must not transpile what belongs
   * there.
   */
  provide(denoDir: string, modules: readonly ProgramModule[]): void {
    const wanted = modules.filter(isTranspiled)
    if (wanted.length === 0) return
    const keys = wanted.map((module) => this.#use(toEmitKey(module)))
    const missing = wanted.filter((_, index) => keys[index] === undefined)
    if (missing.length > 0) {
      this.#onMissing(missing)
      return
    }
    const folder = toEmitsFolder(denoDir)
    unlinkSync(join(folder, this.#place))
    mkdirSync(join(folder, this.#place), { mode: 0o755 })
    for (const [index, { url }] of wanted.entries())
      linkOrCopySync(this.#toPath(keys[index] ?? ""), join(folder, `${toCachePath(url)}.js`))
  }

  #toPath(key: string): string {
    return join(this.folder, key)
  }

  #toModulePath(key: string): string {
    return join(this.folder, `${key}.module`)
  }

  /** The key, if there are such files. */
  #use(key: string | undefined): string | undefined {
    const bytes = key === undefined ? undefined : this.#files.get(key)
    if (key === undefined || bytes === undefined) return undefined
    this.#files.delete(key)
    this.#files.set(key, bytes)
    return key
  }
}
