import { parentPort, type Transferable } from "node:worker_threads"
import { lowerPriority } from "./lower-priority.ts"
import type { WorkerJob, WorkerReply } from "./worker-pool.ts"

/** The result of a job, and what of it is transferred instead of copied. */
export interface JobResult<Result> {
  readonly result: Result
  readonly transfer?: readonly Transferable[]
}

/**
 * The thread side of a WorkerPool. It runs as many jobs at the same time as the pool allows: while
 * one waits, another goes on.
 */
export function serveJobs<Job, Result>(
  work: (job: Job) => JobResult<Result> | Promise<JobResult<Result>>,
): void {
  lowerPriority()
  parentPort?.on("message", async ({ number, job }: WorkerJob<Job>) => {
    try {
      const { result, transfer = [] } = await work(job)
      reply({ number, result }, transfer)
    } catch (error) {
      reply({ number, error: error instanceof Error ? error.message : String(error) }, [])
    }
  })

  function reply(message: WorkerReply<Result>, transfer: readonly Transferable[]): void {
    parentPort?.postMessage(message, [...transfer])
  }
}
