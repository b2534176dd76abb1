import { type Dirent, readdirSync } from "node:fs"
import { join } from "node:path"

/**
 * What is not ours, or not kept. A list and not git's own answer, because the checks also run on a
 * tree without git.
 */
const ignoredNames = new Set(["node_modules", ".git", "dist"])
const ignoredPaths = new Set(["data", "coverage"])

/** Every file below a folder, sorted, as paths from there with forward slashes. */
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
