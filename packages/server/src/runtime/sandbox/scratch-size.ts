import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"

/**
 * Whether a folder holds more than `bytesMax`, or more than `entriesMax` files and folders. Stops
 * at the first limit that is exceeded.
 */
export function isLargerThan(folder: string, bytesMax: number, entriesMax: number): boolean {
  let bytes = 0
  let entries = 0
  const folders = [folder]
  for (let current = folders.pop(); current !== undefined; current = folders.pop()) {
    for (const entry of list(current)) {
      entries += 1
      const path = join(current, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile()) bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0
      if (bytes > bytesMax || entries > entriesMax) return true
    }
  }
  return false
}

function list(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
