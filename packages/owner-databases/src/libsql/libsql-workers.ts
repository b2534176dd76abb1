import { fileURLToPath } from "node:url"
import { parseOwnJson } from "@hamlet/kit"
import { type WorkerOptions, WorkerProcessPool } from "@hamlet/sandbox"
import type { LibsqlLimits } from "../database-limits.ts"
import { toFailedOutcome } from "../database-messages.ts"
import type { SqlOutcome } from "../owner-databases.ts"
import type { LibsqlWorkerReply, LibsqlWorkerSettings } from "./libsql-messages.ts"

const programPath = fileURLToPath(new URL("../worker/libsql/libsql-main.ts", import.meta.url))

/** A worker has no answer: it has ended, or too many requests wait for it. */
export class WorkerGone extends Error {
  constructor(readonly outcome: SqlOutcome) {
    super(outcome.kind)
  }
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
    const outcome = await this.#processes.run(ownerId, head, bytes && [bytes])
    if (outcome.kind === "responded")
      return [parseOwnJson(outcome.head) as LibsqlWorkerReply, outcome.bytes]
    throw new WorkerGone(toFailedOutcome(outcome, this.#msMax, this.#limits.memoryBytesMax))
  }

  stop(): Promise<void> {
    return this.#processes.stop()
  }
}
