import { chmodSync, chownSync, statSync } from "node:fs"
import { chmod, chown, mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { tryListEntries } from "@hamlet/kit"
import { toEmitsFolder } from "../emits/emit-folder.ts"
import { toPackagesFolder } from "./packages/package-folders.ts"

/** The folder of one sandbox, on the host. */
export class SandboxFolder {
  readonly path: string
  /** The sockets, and the guest's file of unsent messages. */
  readonly run: string
  /** Deno's cache with the modules and the packages. The guest can only read it. */
  readonly deno: string
  /** Used only without bubblewrap, which mounts a file system of its own instead. */
  readonly scratch: string
  readonly #uid: number | undefined

  private constructor(path: string, uid: number | undefined) {
    this.path = path
    this.run = join(path, "run")
    this.deno = join(path, "deno")
    this.scratch = join(path, "scratch")
    this.#uid = uid
  }

  /**
   * Creates the folder. A sandbox with a user of its own owns the folders that it writes to. The
   * folder itself belongs to the server, so that the guest cannot replace what is in it. Other
   * users have no access.
   */
  static async create(path: string, uid: number | undefined): Promise<SandboxFolder> {
    const folder = new SandboxFolder(path, uid)
    await makeFolder(path, uid === undefined ? 0o700 : 0o710)
    for (const own of [folder.run, folder.scratch]) {
      await makeFolder(own, 0o700)
      if (uid !== undefined) await chown(own, uid, uid)
    }
    await makeFolder(folder.deno, 0o755)
    await makeFolder(join(folder.deno, "remote"), 0o755)
    await makeFolder(toEmitsFolder(folder.deno), 0o755)
    await makeFolder(toPackagesFolder(folder.deno), 0o755)
    if (uid !== undefined) await chown(path, process.getuid?.() ?? 0, uid)
    return folder
  }

  /** Makes Deno's cache read-only: `caches` and `localStorage` need no permission to write there. */
  async closeDeno(): Promise<void> {
    await chmod(this.deno, 0o555)
  }

  /** Lets the sandbox write to Deno's cache. */
  async openDeno(): Promise<void> {
    if (this.#uid !== undefined) await chown(this.deno, this.#uid, this.#uid)
  }

  /** Lets only the sandbox connect to the socket. */
  restrict(socketPath: string): void {
    if (this.#uid !== undefined) chownSync(socketPath, this.#uid, this.#uid)
    chmodSync(socketPath, 0o600)
  }

  /**
   * Whether the scratch folder holds more than `bytesMax`, or more than `entriesMax` files and
   * folders. Stops at the first limit that is exceeded.
   */
  isScratchLargerThan(bytesMax: number, entriesMax: number): boolean {
    let bytes = 0
    let entries = 0
    const folders = [this.scratch]
    for (let current = folders.pop(); current !== undefined; current = folders.pop()) {
      for (const entry of tryListEntries(current)) {
        entries += 1
        const path = join(current, entry.name)
        if (entry.isDirectory()) folders.push(path)
        else if (entry.isFile()) bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0
        if (bytes > bytesMax || entries > entriesMax) return true
      }
    }
    return false
  }

  /** Makes the folder with the sockets read-only for the sandbox, once all sockets exist. */
  closeRun(): void {
    if (this.#uid !== undefined) chownSync(this.run, process.getuid?.() ?? 0, this.#uid)
    chmodSync(this.run, this.#uid === undefined ? 0o500 : 0o750)
  }
}

export async function removeSandboxFolder(folder: string): Promise<void> {
  for (const name of ["run", "deno"]) {
    try {
      // Only root can remove files from a read-only folder.
      await chmod(join(folder, name), 0o700)
    } catch {
      // Not created yet, or removed already.
    }
  }
  await rm(folder, { recursive: true, force: true })
}

async function makeFolder(path: string, mode: number): Promise<void> {
  await mkdir(path)
  // `mkdir` would apply the umask.
  await chmod(path, mode)
}
