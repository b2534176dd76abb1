import { spawnSync } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { runCaptured, runStep } from "../child.mjs"
import { bun, root } from "./root.mjs"

/**
 * @typedef {{ version?: string, integrity?: string, dev?: boolean, optional?: boolean,
 * devOptional?: boolean }} LockEntry
 * @typedef {Record<string, LockEntry>} LockEntries
 */

/**
 * Runs `npm ci` if the installed packages differ from package-lock.json. Exits if that fails.
 * @param {{ dev: boolean }} wanted `dev: false` leaves the development packages out, unless there
 * are some already
 */
export async function ensurePackages(wanted) {
  const dev = wanted.dev || hasDevPackages(root)
  if (!isInstalled(root, wanted) && !(await installPackages(root, { dev }))) process.exit(1)
  completeBun(bun)
}

/** How often an installation says that it is not done yet. */
const remindMs = 10_000

/**
 * By default npm waits more than a minute before it gives up a registry that it cannot reach. A
 * registry that is only slow is not affected: these are the pauses between two attempts.
 */
const retryOptions = ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"]

/**
 * Installs the packages, and says what it does and from where. Returns false if that fails.
 * @param {string} folder
 * @param {{ dev: boolean }} wanted
 * @param {number} [everyMs]
 */
export async function installPackages(folder, { dev }, everyMs = remindMs) {
  const startedMs = performance.now()
  const which = dev ? [] : ["--omit=dev"]
  const options = [...which, "--no-audit", "--no-fund", "--loglevel=error", ...retryOptions]
  const installing = runStep("npm ci", "npm", ["ci", ...options], { cwd: folder })
  const registry = await findRegistry(folder)
  console.error(`Installing the packages of package-lock.json with npm ci from ${registry} …`)
  const reminder = setInterval(() => {
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    console.error(`Still installing from ${registry}, for ${seconds} s …`)
  }, everyMs)
  const { exitCode, output } = await installing
  clearInterval(reminder)
  if (exitCode !== 0)
    console.error(
      `${output}Cannot install the packages from ${registry}: npm ci ended with ${exitCode}`,
    )
  return exitCode === 0
}

/** @param {string} folder */
async function findRegistry(folder) {
  const { exitCode, output } = await runCaptured(
    "npm",
    ["config", "get", "registry", "--loglevel=silent"],
    { cwd: folder },
  )
  const registry = output.trim().split("\n").at(-1)
  // A URL may contain a password.
  return exitCode === 0 && registry ? registry.replace(/\/\/[^/@]*@/, "//") : "its registry"
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

/** @param {string} folder */
function hasDevPackages(folder) {
  const installed = readEntries(join(folder, "node_modules", ".package-lock.json")) ?? {}
  return Object.values(installed).some(({ dev }) => dev)
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
