// Measures graphile-worker: `node graphile-worker.mjs {database URL} {jobs}` queues no-op jobs, and
// prints how many it finishes per second. The settings are those of its own page about performance:
// jobs are fetched 500 at a time, and their ends are written in batches.
// A variable, so that the type check does not resolve it: the package is installed by benchmarks
// only.
const packageName = "graphile-worker"
const { makeWorkerUtils, run } = await import(packageName)

const [connectionString, count] = [process.argv[2], Number(process.argv[3])]
const preset = {
  worker: {
    connectionString,
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
}
const quiet = { scope: () => quiet, error: console.error, warn() {}, info() {}, debug() {} }

const utils = await makeWorkerUtils({ preset, logger: quiet })
await utils.migrate()
for (let added = 0; added < count; added += 1_000)
  await utils.addJobs(
    Array.from({ length: Math.min(1_000, count - added) }, (_, index) => ({
      identifier: "noop",
      payload: [added + index],
    })),
  )
await utils.release()

let done = 0
const finished = Promise.withResolvers()
const startedMs = performance.now()
const runner = await run({
  preset,
  logger: quiet,
  taskList: {
    noop() {
      done += 1
      if (done === count) finished.resolve()
    },
  },
})
await finished.promise
// Resolves when the ends of all jobs are written.
await runner.stop()
const seconds = (performance.now() - startedMs) / 1000
console.log(count / seconds)
process.exit(0)
