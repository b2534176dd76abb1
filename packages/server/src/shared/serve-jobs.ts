import { setPriority } from "node:os"
import { parentPort, type Transferable } from "node:worker_threads"
import type { WorkerReply } from "./worker-pool.ts"

const niceness = 5

/** What a job gave, and what of it is handed over instead of copied. */
export interface JobResult<Result> {
  readonly result: Result
  readonly transfer?: readonly Transferable[]
}

/** The thread's side of a WorkerPool: does one job after the other, and is told when to end. */
export function serveJobs<Job, Result>(
  work: (job: Job) => JobResult<Result> | Promise<JobResult<Result>>,
): void {
  // The main thread comes first. On Linux 0 is the thread that asks, elsewhere it would be the
  // whole program.
  if (process.platform === "linux") setPriority(0, niceness)
  parentPort?.on("message", async (job: Job) => {
    try {
      const { result, transfer = [] } = await work(job)
      say({ result }, transfer)
    } catch (error) {
      say({ error: error instanceof Error ? error.message : String(error) }, [])
    }
  })

  function say(answer: WorkerReply<Result>, transfer: readonly Transferable[]): void {
    parentPort?.postMessage(answer, [...transfer])
  }
}
