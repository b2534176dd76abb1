import { parentPort, workerData } from "node:worker_threads"
import { lowerPriority } from "@hamlet/kit"
import { type RunWrite, runScript } from "../database/database.ts"
import type { Statement } from "../database/sql.ts"
import { writeRuns } from "../runs/record-runs.ts"
import { connect } from "./connection.ts"
import { sqliteDialect } from "./dialect.ts"
import type { RunWriterOptions, RunWriterReply } from "./run-writer.ts"

// The thread of the run writer. A message is the JSON of a write, which is cheaper to send than
// objects are, or an empty text that stops the thread.
const options = workerData as RunWriterOptions
const connection = connect(options.path, options, false)
// Requests have priority. Under full load the thread still gets a third of the CPU time of the
// server, and needs less than that to keep up.
lowerPriority()
const send = (reply: RunWriterReply) => parentPort?.postMessage(reply)

parentPort?.on("message", (message: string) => {
  if (message !== "") return send(perform(JSON.parse(message) as RunWrite))
  connection.stop()
  send("closed")
})
send("ready")

function perform(write: RunWrite): RunWriterReply {
  const notices = new Set<string>()
  const run = (statement: Statement) => {
    if (statement.notice !== undefined) notices.add(statement.notice)
    return connection.run(statement)
  }
  try {
    connection.command("begin immediate")
    const value = runScript(() => writeRuns(sqliteDialect, write), run, new Map())
    connection.command("commit")
    return { value, notices: [...notices] }
  } catch {
    // Another process writes, or a run or the disk causes an error. The main thread tries again and
    // reports it.
    if (connection.isInTransaction) connection.command("rollback")
    return "failed"
  }
}
