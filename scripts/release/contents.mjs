import { spawnSync } from "node:child_process"

/** Files of packages that only their development needs. */
const isDevelopment = /\/(?:test|testing|dev)\/|\.test\.tsx?$|\/tsconfig\.json$/

/** The files of scripts/ that `npm start` needs. */
const starting =
  /^scripts\/(?:start\.mjs|child\.mjs|find-deno\.ts|setup\/(?!.*\.test\.)[\w-]+\.mjs)$/

/**
 * The files of the checkout: those of Git and new ones, but none that Git ignores.
 * @param {string} root
 * @returns {readonly string[]}
 */
export function listSources(root) {
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
  const { status, stdout, stderr } = spawnSync("git", list, { cwd: root, encoding: "utf8" })
  if (status !== 0) throw new Error(`Cannot list the files of the checkout: ${stderr}`)
  return stdout.split("\0").filter(Boolean)
}

/**
 * Whether `podman build` gets a file: what .dockerignore lets through, and what it builds with.
 * @param {string} path
 */
export function isInContext(path) {
  if (/^(?:\.dockerignore|LICENSE|deploy\/Containerfile|scripts\/find-deno\.ts)$/.test(path))
    return true
  return isInBoth(path) && !/^packages\/cli\/(?:src|bin)\//.test(path)
}

/**
 * Whether the server for machines with Node contains a file.
 * @param {string} path
 */
export function isInServer(path) {
  const isText = /^(?:LICENSE|README\.md|CHANGELOG\.md|SECURITY\.md)$/.test(path)
  return isText || isInBoth(path) || starting.test(path) || path.startsWith("deploy/")
}

/** @param {string} path */
function isInBoth(path) {
  if (/^(?:package|package-lock)\.json$/.test(path) || /^docs\/[^/]+\.md$/.test(path)) return true
  return path.startsWith("packages/") && !isDevelopment.test(path)
}
