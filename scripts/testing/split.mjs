import { listTestFiles } from "./test-files.mjs"

/**
 * The seconds that slow test files take on two quiet cores; a folder stands for each of its files.
 * Only a hint: it decides which files share a run, not whether they run.
 * @type {Readonly<Record<string, number>>}
 */
const secondsHints = {
  "packages/cli/test/suites/": 3,
  "packages/cli/test/suites/vals.test.ts": 10,
  "packages/cli/test/suites/watch-model.test.ts": 20,
  "packages/cli/test/suites/watch.test.ts": 15,
  "packages/server/src/runtime/dependencies/": 5,
  "packages/server/src/runtime/processes/supervisor.test.ts": 25,
  "packages/server/src/runtime/sandbox/sandboxes.test.ts": 15,
  "packages/server/test/attacks/": 5,
  "packages/server/test/attacks/control.test.ts": 12,
  "packages/server/test/attacks/gateway-responses.test.ts": 12,
  "packages/server/test/attacks/globals.test.ts": 18,
  "packages/server/test/attacks/noisy-neighbours.test.ts": 60,
  "packages/server/test/attacks/rogue-guest.test.ts": 12,
  "packages/server/test/attacks/sandbox.test.ts": 17,
  "packages/server/test/attacks/secrets.test.ts": 18,
  "packages/server/test/attacks/streams.test.ts": 18,
  "packages/server/test/authorization.test.ts": 40,
  "packages/server/test/backup/round-trip.test.ts": 15,
  "packages/server/test/chaos/chaos.test.ts": 20,
  "packages/server/test/compat/compat.test.ts": 60,
  "packages/server/test/fuzz.test.ts": 65,
  "packages/server/test/fuzz-sockets.test.ts": 20,
  "packages/server/test/gateway/": 3,
  "packages/server/test/model.test.ts": 20,
  "packages/server/test/process/": 6,
  "packages/server/test/process/blobs.test.ts": 20,
  "packages/server/test/process/doctor.test.ts": 20,
  "packages/server/test/process/freeze.test.ts": 35,
  "packages/server/test/process/idempotency.test.ts": 15,
  "packages/server/test/process/refusals.test.ts": 15,
  "packages/server/test/process/signals.test.ts": 20,
  "packages/server/test/process/stop.test.ts": 15,
  "packages/server/test/query-plans.test.ts": 16,
  "packages/server/test/reach/": 15,
  "packages/web/test/app/": 15,
  "packages/web/test/app/every-page.test.ts": 60,
  "packages/web/test/app/workbench.test.ts": 30,
  "packages/web/test/templates.test.ts": 30,
  "packages/web/test/docs.test.ts": 25,
  "packages/web/test/editor/": 15,
}
const secondsDefault = 1

/** Suites that share a server or a browser within a run, so that few runs have files of them. */
const sharingFolders = ["packages/cli/test/", "packages/web/test/"]

/**
 * Divides all test files into batches that take about as long as wanted, the longest first. Runners
 * that take the next batch when they are free end at about the same time.
 * @param {string} root
 * @param {number} secondsPerBatch
 * @returns {string[][]}
 */
export function splitTests(root, secondsPerBatch) {
  return toBatches(listTestFiles(root), secondsPerBatch)
}

/**
 * @param {readonly string[]} files
 * @param {number} secondsPerBatch
 * @returns {string[][]}
 */
export function toBatches(files, secondsPerBatch) {
  const isOf = (/** @type {string} */ folder) => (/** @type {string} */ path) =>
    path.startsWith(folder)
  const groups = [
    ...sharingFolders.map((folder) => files.filter(isOf(folder))),
    files.filter((path) => !sharingFolders.some((folder) => isOf(folder)(path))),
  ]
  return groups
    .flatMap((group) => divide(group, secondsPerBatch))
    .sort((one, other) => other.seconds - one.seconds)
    .map(({ paths }) => paths)
}

/**
 * Gives the slowest file that is left to the batch that has the least to do.
 * @param {readonly string[]} files
 * @param {number} secondsPerBatch
 */
function divide(files, secondsPerBatch) {
  const slowestFirst = files
    .map((path) => ({ path, seconds: toSeconds(path) }))
    .sort((one, other) => other.seconds - one.seconds)
  const secondsInAll = slowestFirst.reduce((sum, { seconds }) => sum + seconds, 0)
  const count = Math.min(files.length, Math.ceil(secondsInAll / secondsPerBatch))
  const batches = Array.from({ length: count }, () => ({ seconds: 0, paths: [""].slice(1) }))
  for (const { path, seconds } of slowestFirst) {
    const least = batches.reduce((best, batch) => (batch.seconds < best.seconds ? batch : best))
    least.paths.push(`./${path}`)
    least.seconds += seconds
  }
  return batches
}

/** @param {string} path */
function toSeconds(path) {
  const folder = path.slice(0, path.lastIndexOf("/") + 1)
  return secondsHints[path] ?? secondsHints[folder] ?? secondsDefault
}
