// Measures our queue: `bun drain-queue.ts {database} {runs} {at once}` queues runs of eight accounts
// and prints how many of them a node finishes per second.
import { sql } from "@hamlet/database"
import { addAccounts, addRuns, createQueueNode, openDatabase } from "./queue/queue-node.ts"

/** Accounts that the runs belong to: an account has at most a quarter of the places. */
const accountCount = 8

const [place = "", countText, atOnceText] = process.argv.slice(2)
const count = Number(countText)
const db = await openDatabase(place)
await addRuns(db, await addAccounts(db, accountCount), count)

const finished = Promise.withResolvers<void>()
let done = 0
const node = await createQueueNode(db, Number(atOnceText), {
  end() {
    done += 1
    if (done === count) finished.resolve()
  },
})
const [startedAt, startedMs] = [Date.now(), performance.now()]
node.start()
await finished.promise
await node.stop()
const seconds = (performance.now() - startedMs) / 1000
const [ended] = await db.read<{ count: number | string }>(
  sql`select count(*) as count from runs where status = 'succeeded' and ended_at >= ${startedAt}`,
)
if (Number(ended?.count) < count)
  throw new Error(`Cannot measure: ${ended?.count} of ${count} runs have ended`)
console.log(count / seconds)
process.exit(0)
