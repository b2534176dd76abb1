import { readdirSync } from "node:fs"
import { join } from "node:path"

const folders = ["packages", "scripts"]
const ignoredNames = new Set(["node_modules", "dist"])

/**
 * Every test file, as a path from the root.
 * @param {string} root
 * @returns {string[]}
 */
export function listTestFiles(root) {
  return folders.flatMap((folder) => listBelow(root, folder))
}

/**
 * @param {string} root
 * @param {string} folder
 * @returns {string[]}
 */
function listBelow(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      if (ignoredNames.has(entry.name)) return []
      if (entry.isDirectory()) return listBelow(root, path)
      return /\.test\.[a-z]+$/.test(entry.name) ? [path] : []
    })
}
