import { join } from "node:path"

/** The folder with the packages of a val, inside of Deno's cache folder. */
export function toPackagesFolder(denoDir: string): string {
  return join(denoDir, "packages")
}

/** Hashes become file names. */
export function assertHash(hash: string): void {
  if (!hashPattern.test(hash))
    throw new Error(`Cannot put bundle "${hash}" into the sandbox: its name is not a hash`)
}

const hashPattern = /^[0-9a-f]{64}$/
