import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Bundle } from "../../../domain/modules/lockfiles.ts"

/** The folder with the packages of a val, inside of Deno's cache folder. */
export function toPackagesFolder(denoDir: string): string {
  return join(denoDir, "packages")
}

/** The folder with the files of the packages in a bundle. */
export function toFilesFolder(denoDir: string, hash: string): string {
  return join(toPackagesFolder(denoDir), hash)
}

/** Writes bundles where the guest finds them, named by their hashes. */
export function writeBundles(denoDir: string, bundles: readonly Bundle[]): void {
  const folder = toPackagesFolder(denoDir)
  for (const { hash, code, cache } of bundles) {
    if (!hashPattern.test(hash))
      throw new Error(`Cannot put bundle "${hash}" into the sandbox: its name is not a hash`)
    writeFileSync(join(folder, `${hash}.js`), code, { mode: 0o644 })
    if (cache) writeFileSync(join(folder, `${hash}.cache`), cache, { mode: 0o644 })
  }
}

/** Hashes become file names. */
const hashPattern = /^[0-9a-f]{64}$/
