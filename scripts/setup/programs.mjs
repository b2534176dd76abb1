import { spawnSync } from "node:child_process"
import { accessSync, constants, existsSync, readdirSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { root } from "./root.mjs"

/**
 * Where bubblewrap is unpacked if it cannot be installed. The server looks here if it is not on the
 * PATH.
 */
export const bubblewrapFolder = join(root, ".tools", "bubblewrap")

/** The path of bubblewrap inside Debian's package. */
export const bubblewrapProgram = join("usr", "bin", "bwrap")

/**
 * The bubblewrap on the PATH, or the one that was unpacked.
 * @param {string} [folder]
 */
export function findBubblewrap(folder = bubblewrapFolder) {
  const own = join(folder, bubblewrapProgram)
  return findOnPath("bwrap") ?? (isProgram(own) ? own : undefined)
}

/** Where Debian keeps PostgreSQL: one folder for each major version, none of them on the PATH. */
const debianPostgresFolder = "/usr/lib/postgresql"

/**
 * The folder of PostgreSQL's server programs (initdb, postgres), the newest version first.
 * @returns {string | undefined}
 */
export function findPostgresBin() {
  const folders = listFolder(debianPostgresFolder)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(debianPostgresFolder, version, "bin"))
  const onPath = findOnPath("initdb")
  return [...folders, ...(onPath ? [dirname(onPath)] : [])].find((folder) =>
    isProgram(join(folder, "initdb")),
  )
}

/** Not the script on the PATH: that stays its parent, so that a signal would end only the script. */
const debianHeadlessShell = "/usr/lib/chromium/chromium-headless-shell"

/**
 * Chromium without windows. In the browser suites it takes two thirds of the CPU time of the whole
 * browser.
 * @returns {string | undefined}
 */
export function findHeadlessShell() {
  return isProgram(debianHeadlessShell)
    ? debianHeadlessShell
    : findOnPath("chromium-headless-shell")
}

/**
 * A browser for the tests.
 * @returns {string | undefined}
 */
export function findChromium() {
  const chromeOnMac = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
  const onPath = ["chromium", "chromium-browser", "google-chrome"]
    .map(findOnPath)
    .find((path) => path !== undefined)
  return findHeadlessShell() ?? onPath ?? (isProgram(chromeOnMac) ? chromeOnMac : undefined)
}

/**
 * Distributions install servers in a folder that is only on the PATH of root.
 * @param {string} name
 * @returns {string | undefined}
 */
export function findServer(name) {
  const folders = ["/usr/sbin", "/usr/local/sbin"]
  return findOnPath(name) ?? folders.map((folder) => join(folder, name)).find(isProgram)
}

/**
 * Perl with the module that gives its programs TLS.
 * @returns {string | undefined}
 */
export function findPerlTls() {
  const perl = findOnPath("perl")
  const hasModule = perl && spawnSync(perl, ["-MNet::SSLeay", "-e", "1"]).status === 0
  return hasModule ? perl : undefined
}

/**
 * The library that gives a process a wrong clock, when it is loaded before all others.
 * @returns {string | undefined}
 */
export function findLibfaketime() {
  return listFolder("/usr/lib")
    .map((folder) => join("/usr/lib", folder, "faketime", "libfaketimeMT.so.1"))
    .find((path) => existsSync(path))
}

/**
 * @param {string} name
 * @returns {string | undefined}
 */
export function findOnPath(name) {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean)
  return folders.map((folder) => join(folder, name)).find(isProgram)
}

/** @param {string} path */
export function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** @param {string} path */
function listFolder(path) {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
