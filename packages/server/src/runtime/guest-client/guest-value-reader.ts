import type { Mask } from "../../domain/secrets/secret-mask.ts"
import { WorkerPool } from "../../shared/threads/worker-pool.ts"
import {
  type FailureText,
  type ReturnedText,
  readFailureText,
  readReturnedText,
} from "./guest-values.ts"

const limits = {
  /** Smaller values are read on the main thread, which takes a few milliseconds at most. */
  inlineBytesMax: 32_768,
  workersMax: 2,
  /** Values that wait for a thread. Each has up to 8 MB. */
  waitingMax: 64,
  /** The largest value takes about 100 ms, and many times that on a busy machine. */
  readMsMax: 20_000,
}

/** A job for a thread. */
export interface ReadJob {
  readonly kind: "returned" | "failure"
  readonly bytes: Uint8Array
  readonly values: ReadonlyMap<string, string>
}

export type ReadResult = ReturnedText | FailureText | undefined

/** Reads the values and failures that guests send, the large ones on worker threads. */
export class GuestValueReader {
  readonly #pool = new WorkerPool<ReadJob, ReadResult>({
    script: new URL("./guest-value-thread.ts", import.meta.url),
    workersMax: limits.workersMax,
    waitingMax: limits.waitingMax,
    jobMsMax: limits.readMsMax,
  })

  /**
   * Undefined if the bytes are not valid, or would take too long. Rejects with a WorkerPoolError
   * when too many values wait.
   */
  async readReturned(
    accountId: string,
    bytes: Uint8Array,
    mask: Mask,
  ): Promise<ReturnedText | undefined> {
    if (bytes.length <= limits.inlineBytesMax)
      return orUndefined(() => readReturnedText(bytes, mask))
    return (await this.#readOnThread(accountId, {
      kind: "returned",
      bytes,
      values: mask.values,
    })) as ReturnedText | undefined
  }

  async readFailure(
    accountId: string,
    bytes: Uint8Array,
    mask: Mask,
  ): Promise<FailureText | undefined> {
    if (bytes.length <= limits.inlineBytesMax)
      return orUndefined(() => readFailureText(bytes, mask))
    return (await this.#readOnThread(accountId, { kind: "failure", bytes, values: mask.values })) as
      | FailureText
      | undefined
  }

  stop(): Promise<void> {
    return this.#pool.stop()
  }

  #readOnThread(accountId: string, job: ReadJob): Promise<ReadResult> {
    return this.#pool.run(accountId, job)
  }
}

/** `read` throws for invalid JSON, and for values that are nested too deeply to be walked. */
function orUndefined<Result>(read: () => Result | undefined): Result | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
