import { listTestFiles } from "./test-files.mjs"

/**
 * The seconds that slow test files take on two quiet cores; a folder stands for each of its files.
 * Only a hint: it decides which files share a run, not whether they run.
 * @type {Readonly<Record<string, number>>}
 */
const secondsHints = {
  "packages/cli/test/suites/": 3,
  "packages/cli/test/suites/backup.test.ts": 15,
  "packages/cli/test/suites/watch.test.ts": 25,
  "packages/database/src/": 3,
  "packages/database/src/migrations/": 3,
  "packages/database/src/postgres/": 5,
  "packages/database/src/sqlite/": 3,
  "packages/guest/test/": 4,
  "packages/server/src/jobs/": 2,
  "packages/npm/src/": 7,
  "packages/npm/src/walls.test.ts": 15,
  "packages/owner-databases/src/": 2,
  "packages/server/src/runtime/parser/": 2,
  "packages/sandbox/src/processes/supervisor.test.ts": 20,
  "packages/sandbox/src/sandboxes/sandboxes.test.ts": 14,
  "packages/server/src/storage/blobs/": 5,
  "packages/server/src/storage/migrations/migrations.test.ts": 25,
  "packages/server/src/storage/modules/": 9,
  "packages/server/src/storage/claims/": 5,
  "packages/server/src/storage/queue/": 8,
  "packages/server/src/storage/runs/": 6,
  "packages/server/src/storage/schedules/": 4,
  "packages/server/test/": 5,
  "packages/server/test/api/": 3,
  "packages/server/test/api/blobs.test.ts": 15,
  "packages/server/test/api/cursors.test.ts": 12,
  "packages/server/test/api/emails.test.ts": 12,
  "packages/server/test/api/queue.test.ts": 14,
  "packages/server/test/api/run-tokens.test.ts": 13,
  "packages/server/test/api/webhooks.test.ts": 18,
  "packages/server/test/attacks/": 4,
  "packages/server/test/attacks/control.test.ts": 14,
  "packages/server/test/attacks/globals.test.ts": 13,
  "packages/server/test/attacks/noisy-neighbours.test.ts": 18,
  "packages/server/test/attacks/rebinding.test.ts": 18,
  "packages/server/test/attacks/sandbox.test.ts": 20,
  "packages/server/test/authorization.test.ts": 25,
  "packages/server/test/backup/": 6,
  "packages/server/test/backup/round-trip.test.ts": 30,
  "packages/server/test/client.test.ts": 12,
  "packages/server/test/gateway/": 2,
  "packages/server/test/mail/": 6,
  "packages/server/test/mail/receive.test.ts": 17,
  "packages/server/test/privacy.test.ts": 13,
  "packages/server/test/process/": 6,
  "packages/server/test/process/blobs.test.ts": 25,
  "packages/server/test/process/doctor.test.ts": 10,
  "packages/server/test/process/queue.test.ts": 8,
  "packages/server/test/process/refusals.test.ts": 8,
  "packages/server/test/process/restore.test.ts": 6,
  "packages/server/test/process/routing.test.ts": 14,
  "packages/server/test/process/secret-key.test.ts": 20,
  "packages/server/test/process/signals.test.ts": 16,
  "packages/server/test/process/start.test.ts": 30,
  "packages/server/test/process/stop.test.ts": 25,
  "packages/server/test/process/webhooks.test.ts": 13,
  "packages/server/test/query-plans.test.ts": 35,
  "packages/server/test/reach/": 8,
  "packages/server/test/schedules/": 4,
  "packages/server/test/sdk.test.ts": 14,
  "packages/server/test/v2/vt.test.ts": 12,
  "packages/web/test/app/": 4,
  "packages/web/test/app/account.test.ts": 18,
  "packages/web/test/app/attacks.test.ts": 40,
  "packages/web/test/app/editing.test.ts": 25,
  "packages/web/test/app/every-page.test.ts": 90,
  "packages/web/test/app/first-hour.test.ts": 15,
  "packages/web/test/app/home.test.ts": 25,
  "packages/web/test/app/live-logs.test.ts": 12,
  "packages/web/test/app/others.test.ts": 12,
  "packages/web/test/app/runs.test.ts": 20,
  "packages/web/test/app/triggers.test.ts": 13,
  "packages/web/test/app/val.test.ts": 20,
  "packages/web/test/app/versions.test.ts": 13,
  "packages/web/test/app/workbench.test.ts": 35,
  "packages/web/test/docs.test.ts": 20,
  "packages/web/test/editor/editor.test.ts": 15,
  "packages/web/test/editor/types.test.ts": 13,
  "packages/web/test/templates.test.ts": 13,
  "scripts/": 3,
}
const secondsDefault = 1

/** What the longest and the shortest batch of a group take, compared with what is wanted. */
const shares = { most: 1.5, least: 0.5 }

/**
 * Suites that share something dear within a run, so that one run has all of a folder: a server, a
 * browser, and what checks responses against the OpenAPI document. The longest takes a sixth of the
 * time of all tests, and begins among the first.
 */
const sharingFolders = ["packages/cli/test/", "packages/web/test/", "packages/server/test/api/"]

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
  const others = files.filter((path) => !sharingFolders.some((folder) => isOf(folder)(path)))
  return [
    ...sharingFolders.flatMap((folder) => divide(files.filter(isOf(folder)))),
    ...divide(others, secondsPerBatch),
  ]
    .sort((one, other) => other.seconds - one.seconds)
    .map(({ paths }) => paths)
}

/**
 * Gives the slowest file that is left to the batch that has the least to do for its share. The
 * shares differ, so that the batches that are begun last are short and the runners end together.
 * @param {readonly string[]} files
 * @param {number} [secondsPerBatch] one batch by default
 */
function divide(files, secondsPerBatch = Number.MAX_VALUE) {
  const slowestFirst = files
    .map((path) => ({ path, seconds: toSeconds(path) }))
    .sort((one, other) => other.seconds - one.seconds)
  const secondsInAll = slowestFirst.reduce((sum, { seconds }) => sum + seconds, 0)
  const count = Math.min(files.length, Math.ceil(secondsInAll / secondsPerBatch))
  const batches = Array.from({ length: count }, (_, index) => ({
    share: shares.most - ((shares.most - shares.least) * index) / Math.max(1, count - 1),
    seconds: 0,
    paths: [""].slice(1),
  }))
  const loadOf = (/** @type {(typeof batches)[number]} */ batch) => batch.seconds / batch.share
  for (const { path, seconds } of slowestFirst) {
    const least = batches.reduce((best, batch) => (loadOf(batch) < loadOf(best) ? batch : best))
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
