import type { RouteName } from "@hamlet/contract"
import { AppError, type Issue } from "../../domain/app-error.ts"
import { WorkerPool, WorkerPoolError } from "../../shared/worker-pool.ts"

const limits = {
  /** Up to here a body is read on the main thread: in some 10 ms, whatever it holds. */
  inlineBytesMax: 32_768,
  workersMax: 2,
  /** Bodies that wait for a thread. */
  waitingMax: 128,
  /** Reading takes half a second at worst; on a busy machine many times that. */
  readMsMax: 20_000,
}

/** Fields that handlers pass on without a look at them: of a large body they get the JSON. */
export const forwardedFields: Partial<Record<RouteName, readonly string[]>> = {
  createRun: ["args"],
  callVal: ["args"],
  evalCode: ["args"],
  batchSql: ["statements"],
}

/** A body as the route's schema reads it. */
export interface ParsedBody {
  readonly body: unknown
  /** The JSON of the fields that are not in the body because they are passed on. */
  readonly forwardedJson: Readonly<Record<string, string>>
}

/** What a thread is asked for. */
export interface BodyJob {
  readonly route: RouteName
  readonly bytes: Uint8Array
  readonly contentType: string | null
}

export type BodyResult =
  | ParsedBody
  | {
      readonly refusal: Pick<AppError, "code" | "message"> & {
        readonly issues?: readonly Issue[] | undefined
      }
    }

/**
 * Reads and checks large bodies on threads of their own: two megabytes of small values take longer
 * than anybody should wait for.
 */
export class LargeBodies {
  readonly #pool = new WorkerPool<BodyJob, BodyResult>({
    script: new URL("./large-body-thread.ts", import.meta.url),
    workersMax: limits.workersMax,
    waitingMax: limits.waitingMax,
    jobMsMax: limits.readMsMax,
  })

  isLarge(bytes: Uint8Array): boolean {
    return bytes.length > limits.inlineBytesMax
  }

  /**
   * Throws what reading it here would throw, and `overloaded` when too many wait. `sender` is a
   * user or an address.
   */
  async parse(sender: string, job: BodyJob): Promise<ParsedBody> {
    const result = await this.#ask(sender, job)
    if (!("refusal" in result)) return result
    const { code, message, issues } = result.refusal
    throw new AppError(code, message, issues ? { issues } : {})
  }

  stop(): Promise<void> {
    return this.#pool.stop()
  }

  async #ask(sender: string, job: BodyJob): Promise<BodyResult> {
    try {
      return await this.#pool.run(sender, job)
    } catch (error) {
      if (!(error instanceof WorkerPoolError) || error.reason === "failed") throw error
      throw new AppError("overloaded", "Cannot read the body: too many large ones are being read", {
        cause: error,
      })
    }
  }
}
