import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const leftovers = new Set<() => void>()

process.on("exit", () => {
  for (const clear of leftovers) clear()
})
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, () => process.exit(130))

/**
 * Runs `clear` when the program ends in any way. Calling the result runs it at once instead.
 */
export function onEnd(clear: () => void): () => void {
  leftovers.add(clear)
  return () => {
    if (leftovers.delete(clear)) clear()
  }
}

/** A folder that is removed when the program ends. */
export function createScratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-bench-"))
  onEnd(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
