import type { RouteName } from "@hamlet/contract"
import { type Issue, WorkerPool, WorkerPoolError } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"

const limits = {
  /** A body up to this size is parsed on the main thread, in at most about 10 ms. */
  inlineBytesMax: 32_768,
  workersMax: 2,
  /** Bodies waiting for a thread. */
  waitingMax: 128,
  /** Parsing takes half a second at most, and many times that on a busy machine. */
  parseMsMax: 20_000,
}

/** Fields that handlers forward unparsed: they receive the JSON of those of a large body. */
export const forwardedFields: Partial<Record<RouteName, readonly string[]>> = {
  createRun: ["args"],
  callVal: ["args"],
  evalCode: ["args"],
  replayRun: ["args"],
  batchSql: ["statements"],
  batchValSql: ["statements"],
}

/** A body that was validated by the route's schema. */
export interface ParsedBody {
  readonly body: unknown
  /** JSON of the fields that were removed from the body because handlers forward them. */
  readonly forwardedJson: Readonly<Record<string, string>>
}

/** The input of a thread. */
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
 * Parses and validates large bodies on worker threads: two megabytes of small values would block
 * the event loop for too long.
 */
export class LargeBodies {
  readonly #pool = new WorkerPool<BodyJob, BodyResult>({
    script: new URL("./large-body-thread.ts", import.meta.url),
    workersMax: limits.workersMax,
    waitingMax: limits.waitingMax,
    jobMsMax: limits.parseMsMax,
  })

  isLarge(bytes: Uint8Array): boolean {
    return bytes.length > limits.inlineBytesMax
  }

  /**
   * Throws the errors of `parseBody` and `validate`, and `overloaded` when too many bodies wait.
   * `sender`, a user id or an address, is the unit of fairness.
   */
  async parse(sender: string, job: BodyJob): Promise<ParsedBody> {
    const result = await this.#run(sender, job)
    if (!("refusal" in result)) return result
    const { code, message, issues } = result.refusal
    throw new AppError(code, message, issues ? { issues } : {})
  }

  stop(): Promise<void> {
    return this.#pool.stop()
  }

  async #run(sender: string, job: BodyJob): Promise<BodyResult> {
    try {
      return await this.#pool.run(sender, job)
    } catch (error) {
      if (!(error instanceof WorkerPoolError) || error.reason === "failed") throw error
      throw new AppError(
        "overloaded",
        "Cannot read the body: too many large bodies are being parsed",
        {
          cause: error,
        },
      )
    }
  }
}
