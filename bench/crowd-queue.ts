// Measures whether a crowded queue delays others: `bun crowd-queue.ts {database} {waiting} {rounds}`
// queues that many runs of one account. Then it queues single runs of another account, one after the
// other, and prints how long each takes to start, in milliseconds, as a JSON array.
import { addAccounts, addRuns, createQueueNode, openDatabase } from "./queue/queue-node.ts"

const [place = "", waitingText, roundsText] = process.argv.slice(2)
const db = await openDatabase(place)
const [crowd, single] = await addAccounts(db, 2)
if (crowd === undefined || single === undefined) throw new Error("Cannot add accounts")
await addRuns(db, [crowd], Number(waitingText))

let started = Promise.withResolvers<void>()
const node = await createQueueNode(db, 256, {
  start: (accountId) => accountId === single.accountId && started.resolve(),
  end() {},
})
node.start()
const delays: number[] = []
for (let round = 0; round < Number(roundsText); round++) {
  started = Promise.withResolvers()
  await addRuns(db, [single], 1)
  const startedMs = performance.now()
  node.wake()
  await started.promise
  delays.push(performance.now() - startedMs)
}
console.log(JSON.stringify(delays))
process.exit(0)
