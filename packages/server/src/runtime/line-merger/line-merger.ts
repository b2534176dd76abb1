import type { MergedLines, ThreeTexts } from "@hamlet/contract/merge-lines"
import { WorkerPool, WorkerPoolError } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"
import type { LineMerger, LineMerging } from "../../domain/files/merges.ts"

const limits = {
  workersMax: 2,
  /** Texts that wait for a thread. */
  waitingMax: 64,
  /** A job takes about a second at most, and many times that on a busy machine. */
  jobMsMax: 60_000,
  /** Lines that a side may add and remove; the time grows with the square. */
  editsMax: 2_000,
  /** What all comparisons of a merge may cost: as much as two of the most expensive ones. */
  stepsMax: 8_000_000,
  /** The edits of a file when the merge has used its steps. */
  cheapEditsMax: 100,
}

/** A job for a thread. */
export interface MergeJob extends ThreeTexts {
  readonly editsMax: number
}

/** Merges texts line by line on worker threads: users decide how long a comparison takes. */
export class ThreadedLineMerger implements LineMerger {
  readonly #pool = new WorkerPool<MergeJob, MergedLines>({
    script: new URL("./merge-thread.ts", import.meta.url),
    workersMax: limits.workersMax,
    waitingMax: limits.waitingMax,
    jobMsMax: limits.jobMsMax,
  })

  begin(userId: string): LineMerging {
    let stepsLeft = limits.stepsMax
    return {
      merge: async (input) => {
        const editsMax = stepsLeft > 0 ? limits.editsMax : limits.cheapEditsMax
        const { text, steps } = await this.#run(userId, { ...input, editsMax })
        stepsLeft -= steps
        return text
      },
    }
  }

  stop(): Promise<void> {
    return this.#pool.stop()
  }

  async #run(userId: string, job: MergeJob): Promise<MergedLines> {
    try {
      return await this.#pool.run(userId, job)
    } catch (error) {
      if (!(error instanceof WorkerPoolError) || error.reason === "failed") throw error
      // A conflict is always a correct answer.
      if (error.reason === "timed_out") return { text: undefined, steps: limits.stepsMax }
      throw new AppError("overloaded", "Cannot merge: too many merges are waiting", {
        cause: error,
      })
    }
  }
}
