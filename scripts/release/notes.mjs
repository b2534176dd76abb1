import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/**
 * The version of package.json, and what CHANGELOG.md says about it. Throws unless every package has
 * that version and its changes are the first section of the changelog.
 * @param {string} root
 */
export function readRelease(root) {
  const { version } = readManifest(root)
  const packages = readdirSync(join(root, "packages"))
  const others = packages.filter(
    (name) => readManifest(join(root, "packages", name)).version !== version,
  )
  if (others.length > 0)
    throw new Error(`Cannot release ${version}: another version is in packages/${others[0]}`)
  return { version, notes: readNotes(readFileSync(join(root, "CHANGELOG.md"), "utf8"), version) }
}

/**
 * The first section of the changelog, without its heading.
 * @param {string} changelog
 * @param {string} version
 */
export function readNotes(changelog, version) {
  const [, first = ""] = changelog.split(/^## /m)
  const heading = first.slice(0, first.indexOf("\n"))
  if (heading.split(" ")[0] !== version)
    throw new Error(
      `Cannot release ${version}: the first section of CHANGELOG.md is "${heading}"; name it "${version}"`,
    )
  return first.slice(heading.length).trim()
}

/**
 * @param {string} folder
 * @returns {{ version: string }}
 */
function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
}
