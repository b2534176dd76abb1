import { type Dirent, readdirSync, readFileSync } from "node:fs"

/**
 * The text of a file; empty where there is none that can be read. For files of the kernel, which
 * other systems lack and which go away with their process.
 */
export function tryReadText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/** The names in a folder; none where there is no folder that can be read. */
export function tryList(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/**
 * Lists a folder with the kinds of its entries; empty if it cannot be read. A link is not a folder.
 */
export function tryListEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
