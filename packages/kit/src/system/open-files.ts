import { closeSync, openSync } from "node:fs"
import { tryReadText } from "./try-read.ts"

/**
 * How many files this process may have open; undefined if the system does not say. It is the hard
 * limit: the runtime raises the soft one to it by itself.
 */
export function readOpenFilesMax(): number | undefined {
  const [, hard] = /^Max open files +\S+ +(\S+)/m.exec(tryReadText("/proc/self/limits")) ?? []
  if (hard === undefined) return undefined
  return hard === "unlimited" ? Number.POSITIVE_INFINITY : Number(hard)
}

/**
 * The least number of files that this process has open; infinite if it cannot open one more. A new
 * file gets the lowest free number, so at least as many are open. Counting them would take long when
 * there are many.
 */
export function estimateOpenFiles(): number {
  try {
    const file = openSync("/dev/null", "r")
    closeSync(file)
    return file
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
