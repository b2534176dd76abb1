import { listTestFiles } from "./test-files.mjs"

/** The suites over the whole server take about as long as all the rest. */
const firstFolder = "packages/server/test/"

/**
 * All test files in two parts that run beside each other, since one run leaves half of a machine
 * with two cores idle.
 * @param {string} root
 * @returns {string[][]}
 */
export function splitTests(root) {
  const files = listTestFiles(root)
  const isFirst = (/** @type {string} */ path) => path.startsWith(firstFolder)
  return [files.filter(isFirst), files.filter((path) => !isFirst(path))].map((paths) =>
    paths.map((path) => `./${path}`),
  )
}
