import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Bundle } from "../../domain/modules/lockfiles.ts"

/** Where the guest finds the packages of its val, in the folder that Deno has for itself. */
export function toPackagesFolder(denoDir: string): string {
  return join(denoDir, "packages")
}

/** Puts bundles where the guest looks for them, under their hashes. */
export function writeBundles(denoDir: string, bundles: readonly Bundle[]): void {
  const folder = toPackagesFolder(denoDir)
  for (const { hash, code, cache } of bundles) {
    if (!hashPattern.test(hash))
      throw new Error(`Cannot put bundle "${hash}" into the sandbox: it has no hash for a name`)
    writeFileSync(join(folder, `${hash}.js`), code, { mode: 0o644 })
    if (cache) writeFileSync(join(folder, `${hash}.cache`), cache, { mode: 0o644 })
  }
}

/** Hashes become file names. */
const hashPattern = /^[0-9a-f]{64}$/
