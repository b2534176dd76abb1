import type { Mask } from "../../domain/secrets/secret-mask.ts"
import { WorkerPool } from "../../shared/worker-pool.ts"
import {
  type FailureText,
  type ReturnedText,
  readFailureText,
  readReturnedText,
} from "./guest-values.ts"

const limits = {
  /** Up to here a value is read where it arrives: in a few milliseconds, whatever it is. */
  inlineBytesMax: 32_768,
  workersMax: 2,
  /** Values that wait for a thread. Each is up to 8 MB. */
  waitingMax: 64,
  /**
   * Reading takes time in proportion to the bytes, some 100 ms for the largest; on a busy machine
   * many times that.
   */
  readMsMax: 20_000,
}

/** What a thread is asked for. */
export interface ReadJob {
  readonly kind: "returned" | "failure"
  readonly bytes: Uint8Array
  readonly values: ReadonlyMap<string, string>
}

export type ReadResult = ReturnedText | FailureText | undefined

/** Reads what guests say at the end of a run: the large ones on threads of their own. */
export class GuestValueReader {
  readonly #pool = new WorkerPool<ReadJob, ReadResult>({
    script: new URL("./guest-value-thread.ts", import.meta.url),
    workersMax: limits.workersMax,
    waitingMax: limits.waitingMax,
    jobMsMax: limits.readMsMax,
  })

  /**
   * Undefined for what is nothing that a guest says, or would take too long; rejects with a
   * WorkerPoolError when there is too much to do.
   */
  async readReturned(
    accountId: string,
    bytes: Uint8Array,
    mask: Mask,
  ): Promise<ReturnedText | undefined> {
    if (bytes.length <= limits.inlineBytesMax)
      return orUndefined(() => readReturnedText(bytes, mask))
    return (await this.#ask(accountId, { kind: "returned", bytes, values: mask.values })) as
      | ReturnedText
      | undefined
  }

  async readFailure(
    accountId: string,
    bytes: Uint8Array,
    mask: Mask,
  ): Promise<FailureText | undefined> {
    if (bytes.length <= limits.inlineBytesMax)
      return orUndefined(() => readFailureText(bytes, mask))
    return (await this.#ask(accountId, { kind: "failure", bytes, values: mask.values })) as
      | FailureText
      | undefined
  }

  stop(): Promise<void> {
    return this.#pool.stop()
  }

  #ask(accountId: string, job: ReadJob): Promise<ReadResult> {
    return this.#pool.run(accountId, job)
  }
}

/** What is no JSON, or is nested too deep to be walked through, throws. */
function orUndefined<Result>(read: () => Result | undefined): Result | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
