import { chmodSync, chownSync } from "node:fs"
import { chmod, chown, mkdir, rm } from "node:fs/promises"
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
 * Makes it. With a user of its own, that user may pass through and own what it writes to, but the
 * folder itself stays ours, so that nothing in it can be replaced; nobody else gets in.
 */
export async function createSandboxFolder(
  path: string,
  uid: number | undefined,
): Promise<SandboxFolder> {
  const folder = {
    path,
    run: join(path, "run"),
    deno: join(path, "deno"),
    scratch: join(path, "scratch"),
  }
  await makeFolder(path, uid === undefined ? 0o700 : 0o710)
  for (const own of [folder.run, folder.scratch]) {
    await makeFolder(own, 0o700)
    if (uid !== undefined) await chown(own, uid, uid)
  }
  await makeFolder(folder.deno, 0o755)
  await makeFolder(join(folder.deno, "remote"), 0o755)
  await makeFolder(toPackagesFolder(folder.deno), 0o755)
  // Without any permission, `caches` and `localStorage` would write here.
  await chmod(folder.deno, 0o555)
  if (uid !== undefined) await chown(path, process.getuid?.() ?? 0, uid)
  return folder
}

/**
 * Once its sockets are there, a guest has no business making files in the one folder that is shared
 * with the host.
 */
export function closeRunFolder(folder: SandboxFolder, uid: number | undefined): void {
  if (uid !== undefined) chownSync(folder.run, process.getuid?.() ?? 0, uid)
  chmodSync(folder.run, uid === undefined ? 0o500 : 0o750)
}

export async function removeSandboxFolder(folder: string): Promise<void> {
  for (const name of ["run", "deno"]) {
    try {
      // As an ordinary user we could not remove what is in it.
      await chmod(join(folder, name), 0o700)
    } catch {
      // Not made yet, or gone already.
    }
  }
  await rm(folder, { recursive: true, force: true })
}

async function makeFolder(path: string, mode: number): Promise<void> {
  await mkdir(path)
  // Whatever the umask is.
  await chmod(path, mode)
}
