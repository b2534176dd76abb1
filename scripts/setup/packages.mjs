import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./root.mjs"

/**
 * @typedef {{ version?: string, integrity?: string, dev?: boolean, optional?: boolean,
 * devOptional?: boolean }} LockEntry
 * @typedef {Record<string, LockEntry>} LockEntries
 */

/**
 * Runs `npm ci` if the installed packages differ from package-lock.json. Exits if that fails.
 * @param {{ dev: boolean }} wanted `dev: false` is content with an installation that left the
 * development packages out
 */
export function ensurePackages(wanted) {
  if (isInstalled(root, wanted)) return
  console.error("Installing the packages of package-lock.json with npm ci …")
  const arguments_ = ["ci", "--no-audit", "--no-fund", "--loglevel=error"]
  const npm = spawnSync("npm", arguments_, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  })
  if (npm.status === 0) return
  console.error(
    `${npm.stdout ?? ""}${npm.stderr ?? ""}Cannot install the packages: npm ci ended with ${npm.status ?? npm.signal ?? npm.error}`,
  )
  process.exit(1)
}

/**
 * Compares npm's record of what it installed with the lock file, by content: a checkout touches the
 * time of files it does not change. Reading two JSON files takes 2 ms, asking npm takes 500.
 * @param {string} folder
 * @param {{ dev: boolean }} wanted
 */
export function isInstalled(folder, wanted) {
  const locked = readEntries(join(folder, "package-lock.json"))
  const installed = readEntries(join(folder, "node_modules", ".package-lock.json"))
  if (!locked || !installed) return false
  return Object.entries(locked).every(
    ([path, entry]) => path === "" || isSatisfied(entry, installed[path], wanted),
  )
}

/**
 * @param {LockEntry} locked
 * @param {LockEntry | undefined} installed
 * @param {{ dev: boolean }} wanted
 */
function isSatisfied(locked, installed, wanted) {
  if (installed)
    return installed.version === locked.version && installed.integrity === locked.integrity
  // Optional packages are those of other platforms: npm leaves them out here.
  if (locked.optional || locked.devOptional) return true
  return Boolean(locked.dev) && !wanted.dev
}

/**
 * @param {string} path
 * @returns {LockEntries | undefined}
 */
function readEntries(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages
  } catch {
    // Missing, or truncated by an interrupted installation: installing fixes both.
    return undefined
  }
}
