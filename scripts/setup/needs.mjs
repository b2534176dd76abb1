import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

/**
 * Test files that need a program as soon as they are loaded, because they use one of these. Other
 * suites ask for their programs themselves.
 * @type {Readonly<Record<string, RegExp>>}
 */
const importedFor = {
  openssl: /\bcreateAuthority\b|\/proxies\/[\w-]+\.ts"|\/compat\/services\//,
  git: /"\.\/contents\.mjs"/,
}

/**
 * @typedef {object} Part
 * @property {string[]} args the arguments of one `bun test`
 * @property {Record<string, string>} [env] what it gets beside the environment of all
 */

/**
 * Takes out the test files that cannot be loaded without a missing program: they would end with an
 * error that is about none of their tests.
 * @param {string} root
 * @param {Part[]} parts
 * @param {readonly string[]} missing Debian's packages of the programs
 */
export function leaveOutNeeding(root, parts, missing) {
  /** @type {string[]} */
  const leftOut = []
  const isPossible = (/** @type {string} */ arg) => {
    const needed = missing.find((name) => isNeeded(root, arg, importedFor[name]))
    if (needed === undefined) return true
    leftOut.push(`${arg.replace(/^\.\//, "")}: ${needed} is not installed`)
    return false
  }
  const kept = parts.map((part) => ({ ...part, args: part.args.filter(isPossible) }))
  const hasFiles = (/** @type {Part | undefined} */ part) => part?.args.some(isTestFile) ?? false
  return {
    parts: kept.filter((part, index) => hasFiles(part) || !hasFiles(parts[index])),
    leftOut,
  }
}

/**
 * @param {string} root
 * @param {string} arg
 * @param {RegExp | undefined} imported
 */
function isNeeded(root, arg, imported) {
  const path = join(root, arg)
  return (
    imported !== undefined &&
    isTestFile(arg) &&
    existsSync(path) &&
    imported.test(readFileSync(path, "utf8"))
  )
}

/** @param {string} arg */
function isTestFile(arg) {
  return /\.(test|long)\.tsx?$/.test(arg)
}
