import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { toPackagesFolder } from "./package-files.ts"

/** The folder of one sandbox, on the host. */
export interface SandboxFolder {
  readonly path: string
  /** The sockets: control, in and out. */
  readonly run: string
  /** Deno's cache, which holds the modules, and the packages; the guest can only read it. */
  readonly deno: string
  /** Only without bubblewrap, which has a file system of its own for it. */
  readonly scratch: string
}

/**
 * Makes it. With a user of its own, that user may pass through and own what it writes to, but the folder itself stays ours, so that nothing
 * in it can be replaced; nobody else gets in.
 */
export function createSandboxFolder(path: string, uid: number | undefined): SandboxFolder {
  const folder = { path, run: join(path, "run"), deno: join(path, "deno"), scratch: join(path, "scratch") }
  makeFolder(path, uid === undefined ? 0o700 : 0o710)
  for (const own of [folder.run, folder.scratch]) {
    makeFolder(own, 0o700)
    if (uid !== undefined) chownSync(own, uid, uid)
  }
  makeFolder(folder.deno, 0o755)
  makeFolder(join(folder.deno, "remote"), 0o755)
  makeFolder(toPackagesFolder(folder.deno), 0o755)
  // Without any permission, `caches` and `localStorage` would write here.
  chmodSync(folder.deno, 0o555)
  if (uid !== undefined) chownSync(path, process.getuid?.() ?? 0, uid)
  return folder
}

/** Once its sockets are there, a guest has no business making files in the one folder that is shared with the host. */
export function closeRunFolder(folder: SandboxFolder, uid: number | undefined): void {
  if (uid !== undefined) chownSync(folder.run, process.getuid?.() ?? 0, uid)
  chmodSync(folder.run, uid === undefined ? 0o500 : 0o750)
}

export function removeSandboxFolder(folder: string): void {
  for (const name of ["run", "deno"]) {
    try {
      // As an ordinary user we could not remove what is in it.
      chmodSync(join(folder, name), 0o700)
    } catch {
      // Not made yet, or gone already.
    }
  }
  rmSync(folder, { recursive: true, force: true })
}

function makeFolder(path: string, mode: number): void {
  mkdirSync(path)
  // Whatever the umask is.
  chmodSync(path, mode)
}
