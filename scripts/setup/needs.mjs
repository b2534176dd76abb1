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
 * Takes out the test files that cannot be loaded without a missing program: they would end with an
 * error that is about none of their tests.
 * @param {string} root
 * @param {string[][]} parts the arguments of each `bun test`
 * @param {readonly string[]} missing Debian's packages of the programs
 */
export function leaveOutNeeding(root, parts, missing) {
  /** @type {string[]} */
  const leftOut = []
  const kept = parts.map((args) =>
    args.filter((arg) => {
      const needed = missing.find((name) => isNeeded(root, arg, importedFor[name]))
      if (needed === undefined) return true
      leftOut.push(`${arg.replace(/^\.\//, "")}: ${needed} is not installed`)
      return false
    }),
  )
  const isEmpty = (/** @type {string[]} */ args) => !args.some((arg) => /\.test\.tsx?$/.test(arg))
  return {
    parts: kept.filter((args, index) => !isEmpty(args) || isEmpty(parts[index] ?? [])),
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
    /\.test\.tsx?$/.test(arg) &&
    existsSync(path) &&
    imported.test(readFileSync(path, "utf8"))
  )
}
