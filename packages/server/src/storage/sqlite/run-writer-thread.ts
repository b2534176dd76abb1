import { setPriority } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import { type RunValues, runScript } from "../database/database.ts"
import { recordRuns } from "../runs/record-runs.ts"
import { connect } from "./connection.ts"
import type { RunWriterOptions, RunWriterReply } from "./run-writer.ts"

const niceness = 5

// The thread of a scribe. What it is told is the JSON of a batch, which costs less to pass on than
// objects do, or nothing when it is to end.
const orders = workerData as RunWriterOptions
const connection = connect(orders.path, orders, false)
// Whoever waits for an answer comes first. On Linux 0 is the thread that asks, elsewhere it would
// be the whole program. It still gets a third of what the server gets where there is too much to
// do, and needs less than that to keep up.
if (process.platform === "linux") setPriority(0, niceness)
const say = (answer: RunWriterReply) => parentPort?.postMessage(answer)

parentPort?.on("message", (message: string) => {
  if (message !== "")
    return say(record(JSON.parse(message) as readonly RunValues[]) ? "written" : "failed")
  connection.stop()
  say("closed")
})
say("ready")

function record(runs: readonly RunValues[]): boolean {
  try {
    connection.command("begin immediate")
    runScript(
      () => recordRuns(runs),
      (statement) => connection.run(statement),
      new Map(),
    )
    connection.command("commit")
    return true
  } catch {
    // Another process writes, or there is something wrong with the runs or the disk.
    if (connection.isInTransaction) connection.command("rollback")
    return false
  }
}
