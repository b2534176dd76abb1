import { fileURLToPath } from "node:url"
import type { SqlOutcome } from "../../../domain/owner-databases.ts"
import { parseOwnJson } from "../../../shared/hostile-input/bounded.ts"
import { toFrameParts } from "../../worker-processes/frames.ts"
import { WorkerProcessPool } from "../../worker-processes/worker-process-pool.ts"
import type { WorkerOptions } from "../../worker-processes/worker-profile.ts"
import type { LibsqlLimits } from "../database-limits.ts"
import {
  type LibsqlWorkerReply,
  type LibsqlWorkerSettings,
  splitMessage,
  toMessage,
} from "./libsql-messages.ts"

const programPath = fileURLToPath(new URL("../worker/libsql/libsql-main.ts", import.meta.url))

/** A worker has no answer: it has ended, or too many requests wait for it. */
export class WorkerGone extends Error {
  constructor(readonly outcome: SqlOutcome) {
    super(outcome.kind)
  }
}

export const endingOutcome: SqlOutcome = {
  kind: "unavailable",
  message: "the server is about to end",
}

/** The processes that compile statements and read results. They have no network and no files. */
export class LibsqlWorkers {
  readonly #processes: WorkerProcessPool
  readonly #limits: LibsqlLimits
  readonly #msMax: number

  constructor(
    { msMax, isolation, onWeak }: Omit<WorkerOptions, "program"> & { readonly msMax: number },
    limits: LibsqlLimits,
  ) {
    this.#limits = limits
    this.#msMax = msMax
    this.#processes = new WorkerProcessPool({
      isolation,
      onWeak,
      program: programPath,
      limits: { ...limits, requestMsMax: msMax },
      toSettings: (): LibsqlWorkerSettings => ({ mirrorsMax: limits.cachedOwnersMax }),
      isRepeatable: true,
    })
  }

  /** Asks a worker that knows the owner's tables, if there is one. */
  async call(
    ownerId: string,
    head: string,
    bytes?: Uint8Array,
  ): Promise<readonly [LibsqlWorkerReply, Buffer]> {
    const outcome = await this.#processes.run(ownerId, toFrameParts(toMessage(head, bytes)))
    switch (outcome.kind) {
      case "responded": {
        const message = splitMessage(outcome.response)
        return [parseOwnJson(message.head) as LibsqlWorkerReply, message.bytes]
      }
      case "overloaded":
        throw new WorkerGone({ kind: "overloaded" })
      case "stopped":
        throw new WorkerGone(endingOutcome)
    }
    const { isStarted, message = "its process did not start" } = outcome
    if (!isStarted) throw new WorkerGone({ kind: "unavailable", message })
    const reasons = {
      timed_out: `it took longer than ${this.#msMax / 1000} s`,
      out_of_memory: `it took more than ${this.#limits.memoryBytesMax} bytes of memory`,
      crashed: "the process that ran it ended",
    }
    throw new WorkerGone({ kind: "failed", message: `interrupted: ${reasons[outcome.kind]}` })
  }

  stop(): Promise<void> {
    return this.#processes.stop()
  }
}
