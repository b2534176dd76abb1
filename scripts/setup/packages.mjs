import { spawnSync } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { bun, root } from "./root.mjs"

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
  if (!isInstalled(root, wanted)) installPackages()
  completeBun(bun)
}

function installPackages() {
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

/** The program has 100 MB, the file in its place less than one kilobyte. */
const programBytesMin = 1_000_000

/**
 * Runs the install script of Bun, which puts the program in its place, if npm has not: npm can be
 * told to run no install scripts (`ignore-scripts`). Bun's own message is shown if that fails.
 * @param {string} program
 */
export function completeBun(program) {
  const { size = 0 } = statSync(program, { throwIfNoEntry: false }) ?? {}
  if (size >= programBytesMin) return
  const folder = dirname(dirname(program))
  spawnSync(process.execPath, ["install.js"], { cwd: folder, stdio: "inherit" })
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
