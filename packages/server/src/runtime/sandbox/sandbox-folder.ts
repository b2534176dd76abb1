import { chmodSync, chownSync } from "node:fs"
import { chmod, chown, mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { toPackagesFolder } from "./packages/package-files.ts"

/** The folder of one sandbox, on the host. */
export interface SandboxFolder {
  readonly path: string
  /** The sockets: control, in and out. */
  readonly run: string
  /** Deno's cache with the modules and the packages. The guest can only read it. */
  readonly deno: string
  /** Used only without bubblewrap, which mounts a file system of its own instead. */
  readonly scratch: string
}

/**
 * Creates the folder. A sandbox with a user of its own owns the folders that it writes to. The
 * folder itself belongs to the server, so that the guest cannot replace what is in it. Other users
 * have no access.
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
  // Read-only, because `caches` and `localStorage` need no permission and would write here.
  await chmod(folder.deno, 0o555)
  if (uid !== undefined) await chown(path, process.getuid?.() ?? 0, uid)
  return folder
}

/** Makes the folder with the sockets read-only for the guest, once all sockets exist. */
export function closeRunFolder(folder: SandboxFolder, uid: number | undefined): void {
  if (uid !== undefined) chownSync(folder.run, process.getuid?.() ?? 0, uid)
  chmodSync(folder.run, uid === undefined ? 0o500 : 0o750)
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
