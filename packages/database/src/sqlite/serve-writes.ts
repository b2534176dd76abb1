import { parentPort, workerData } from "node:worker_threads"
import { lowerPriority } from "@hamlet/kit"
import type { Script } from "../database.ts"
import type { Dialect } from "../dialect.ts"
import { runScripts } from "../run-scripts.ts"
import { connect } from "./connection.ts"
import { sqliteDialect } from "./dialect.ts"
import type { ThreadReply, ThreadWriterOptions } from "./thread-writer.ts"

/**
 * Runs a script for each input that the writer of this thread sends. A message is the JSON of the
 * input, which is cheaper to send than objects are, or an empty text that stops the thread.
 */
export function serveWrites<Input>(script: (dialect: Dialect, input: Input) => Script<unknown>) {
  const options = workerData as ThreadWriterOptions
  const connection = connect(options.path, options, false)
  // Requests have priority. Under full load the thread still gets a third of the CPU time of the
  // server, and needs less than that to keep up.
  lowerPriority()
  const send = (reply: ThreadReply) => parentPort?.postMessage(reply)
  parentPort?.on("message", async (message: string) => {
    if (message !== "") return send(await write(JSON.parse(message) as Input))
    connection.stop()
    send("closed")
  })
  send("ready")

  async function write(input: Input): Promise<ThreadReply> {
    const notices = new Set<string>()
    const { runScript, runLast } = runScripts((statement) => connection.run(statement), notices)
    try {
      connection.command("begin immediate")
      const value = await runScript(script(sqliteDialect, input))
      await runLast()
      connection.command("commit")
      return { value, notices: [...notices] }
    } catch {
      // Another process writes, or the input or the disk causes an error. The main thread tries again
      // and reports it.
      if (connection.isInTransaction) connection.command("rollback")
      return "failed"
    }
  }
}
