import { listTestFiles } from "./test-files.mjs"

/**
 * The seconds that slow test files take on two quiet cores; a folder stands for each of its files.
 * Only a hint: it decides which files share a run, not whether they run.
 * @type {Readonly<Record<string, number>>}
 */
const secondsHints = {
  "packages/server/src/runtime/dependencies/": 10,
  "packages/server/src/runtime/processes/supervisor.test.ts": 35,
  "packages/server/test/attacks/": 10,
  "packages/server/test/attacks/control.test.ts": 25,
  "packages/server/test/attacks/gateway-responses.test.ts": 20,
  "packages/server/test/attacks/globals.test.ts": 40,
  "packages/server/test/attacks/noisy-neighbours.test.ts": 60,
  "packages/server/test/attacks/sandbox.test.ts": 60,
  "packages/server/test/attacks/secrets.test.ts": 25,
  "packages/server/test/authorization.test.ts": 45,
  "packages/server/test/backup/round-trip.test.ts": 25,
  "packages/server/test/chaos/chaos.test.ts": 20,
  "packages/server/test/fuzz.test.ts": 100,
  "packages/server/test/model.test.ts": 45,
  "packages/server/test/process/": 10,
  "packages/server/test/process/blobs.test.ts": 40,
  "packages/server/test/process/doctor.test.ts": 50,
  "packages/server/test/process/freeze.test.ts": 40,
  "packages/server/test/query-plans.test.ts": 16,
  "packages/web/test/app/": 35,
  "packages/web/test/docs.test.ts": 50,
  "packages/web/test/editor/": 25,
}
const secondsDefault = 1

/**
 * Divides all test files into batches that take about equally long, the longest first. Runners that
 * take the next batch when they are free end at about the same time.
 * @param {string} root
 * @param {number} count
 * @returns {string[][]}
 */
export function splitTests(root, count) {
  return toBatches(listTestFiles(root), count)
}

/**
 * @param {readonly string[]} files
 * @param {number} count
 * @returns {string[][]}
 */
export function toBatches(files, count) {
  const batches = Array.from({ length: count }, () => ({ seconds: 0, paths: [""].slice(1) }))
  const slowestFirst = files
    .map((path) => ({ path, seconds: toSeconds(path) }))
    .sort((one, other) => other.seconds - one.seconds)
  for (const { path, seconds } of slowestFirst) {
    const least = batches.reduce((best, batch) => (batch.seconds < best.seconds ? batch : best))
    least.paths.push(`./${path}`)
    least.seconds += seconds
  }
  return batches
    .filter(({ paths }) => paths.length > 0)
    .sort((one, other) => other.seconds - one.seconds)
    .map(({ paths }) => paths)
}

/** @param {string} path */
function toSeconds(path) {
  const folder = path.slice(0, path.lastIndexOf("/") + 1)
  return secondsHints[path] ?? secondsHints[folder] ?? secondsDefault
}
