// Measures pg-boss: `node pg-boss.mjs {database URL} {jobs}` queues no-op jobs, and prints how many it
// finishes per second. Four loops fetch and complete 500 jobs at a time, without the pauses of its
// workers, which poll twice a second at most.
// A variable, so that the type check does not resolve it: the package is installed by benchmarks
// only.
const packageName = "pg-boss"
const { PgBoss } = await import(packageName)

const [connectionString, count] = [process.argv[2], Number(process.argv[3])]
const [queue, batchSize, loops] = ["noop", 500, 4]

const boss = new PgBoss({ connectionString, max: 25, supervise: false, schedule: false })
boss.on("error", console.error)
await boss.start()
await boss.createQueue(queue)
for (let added = 0; added < count; added += 1_000) {
  const size = Math.min(1_000, count - added)
  await boss.insert(
    queue,
    Array.from({ length: size }, (_, index) => ({ data: [added + index] })),
  )
}

const startedMs = performance.now()
let done = 0
await Promise.all(
  Array.from({ length: loops }, async () => {
    while (done < count) {
      const jobs = await boss.fetch(queue, { batchSize })
      if (jobs.length === 0) return
      await boss.complete(
        queue,
        jobs.map((/** @type {{ id: string }} */ job) => job.id),
      )
      done += jobs.length
    }
  }),
)
const seconds = (performance.now() - startedMs) / 1000
if (done !== count) throw new Error(`Finished ${done} of ${count} jobs`)
console.log(count / seconds)
await boss.stop({ graceful: false })
process.exit(0)
