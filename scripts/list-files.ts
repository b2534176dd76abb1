import { type Dirent, readdirSync } from "node:fs"
import { join } from "node:path"

/** Folders to skip. A list instead of git's, because the checks also run on trees without git. */
const ignoredNames = new Set(["node_modules", ".git", "dist"])
const ignoredPaths = new Set(["data", "coverage"])

/** All files below a folder, sorted, as relative paths with forward slashes. */
export function listFiles(root: string, folder = ""): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => listEntry(root, folder, entry))
    .sort()
}

function listEntry(root: string, folder: string, entry: Dirent): string[] {
  const path = folder === "" ? entry.name : `${folder}/${entry.name}`
  if (ignoredNames.has(entry.name) || ignoredPaths.has(path)) return []
  if (entry.isDirectory()) return listFiles(root, path)
  return entry.isFile() ? [path] : []
}
