import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The folder of the checkout, wherever the command was called from. */
export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..")

/**
 * The Bun that package-lock.json names. A global one may be another version, so it is never used.
 */
export const bun = join(root, "node_modules", "bun", "bin", "bun.exe")
