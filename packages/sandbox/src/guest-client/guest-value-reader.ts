import { type Mask, WorkerPool, WorkerPoolError } from "@hamlet/kit"
import type { ProgramProcess } from "../processes/program-process.ts"
import {
  brokenResponse,
  type CallOutcome,
  type ProgramResponse,
  type Stopped,
} from "../program/runner.ts"
import {
  type FailureText,
  type ReturnedText,
  readFailureText,
  readReturnedText,
} from "./guest-values.ts"

const limits = {
  failureBytesMax: 1024 ** 2,
  /** What a returned value has around it. */
  envelopeBytesMax: 1024,
  /** Smaller values are read on the main thread, which takes a few milliseconds at most. */
  inlineBytesMax: 32_768,
  workersMax: 2,
  /** Values that wait for a thread. Each has up to 8 MB. */
  waitingMax: 64,
  /** The largest value takes about 100 ms, and many times that on a busy machine. */
  readMsMax: 20_000,
}

/** The outcome of a call, and how many log lines of the run the guest had sent before it. */
export interface GuestResponse<Outcome> {
  readonly outcome: Outcome
  readonly logCount: number
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

  /** Reads the failure in a response. The program's process wrote it, so it may contain anything. */
  readFailure(response: ProgramResponse, process: ProgramProcess): Promise<GuestResponse<Stopped>> {
    return orExplain(async () => {
      const bytes = await readBytes(response, limits.failureBytesMax)
      const value =
        bytes && (await this.readFailureBytes(process.ownerId, bytes, process.secretMask))
      if (!value) return undefined
      const { error, logCount } = value
      return { outcome: { kind: "stopped", status: "failed", error }, logCount }
    })
  }

  /** Reads the value that a call returned. */
  readReturned(
    response: ProgramResponse,
    process: ProgramProcess,
  ): Promise<GuestResponse<CallOutcome>> {
    return orExplain<CallOutcome>(async () => {
      const bytesMax = process.limits.returnBytesMax + limits.envelopeBytesMax
      const bytes = await readBytes(response, bytesMax)
      const value =
        bytes && (await this.readReturnedBytes(process.ownerId, bytes, process.secretMask))
      if (!value) return undefined
      const { logCount, ...returned } = value
      return { outcome: { kind: "returned", ...returned }, logCount }
    })
  }

  /**
   * Undefined if the bytes are not valid, or would take too long. Rejects with a WorkerPoolError
   * when too many values wait.
   */
  readReturnedBytes(accountId: string, bytes: Uint8Array, mask: Mask) {
    return this.#read("returned", readReturnedText, accountId, bytes, mask)
  }

  readFailureBytes(accountId: string, bytes: Uint8Array, mask: Mask) {
    return this.#read("failure", readFailureText, accountId, bytes, mask)
  }

  stop(): Promise<void> {
    return this.#pool.stop()
  }

  async #read<Result extends ReadResult>(
    kind: ReadJob["kind"],
    read: (bytes: Uint8Array, mask: Mask) => Result | undefined,
    accountId: string,
    bytes: Uint8Array,
    mask: Mask,
  ): Promise<Result | undefined> {
    if (bytes.length <= limits.inlineBytesMax) return orUndefined(() => read(bytes, mask))
    const job = { kind, bytes, values: mask.values }
    return (await this.#pool.run(accountId, job)) as Result | undefined
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

async function orExplain<Outcome>(
  read: () => Promise<GuestResponse<Outcome> | undefined>,
): Promise<GuestResponse<Outcome | Stopped>> {
  try {
    return (await read()) ?? unreadable("The program sent a response that cannot be read")
  } catch (error) {
    if (!(error instanceof WorkerPoolError))
      return unreadable("The program sent a response that cannot be read")
    return unreadable(`The program sent a response that could not be read: ${error.message}`)
  }
}

function unreadable(message: string): GuestResponse<Stopped> {
  return {
    outcome: { kind: "stopped", status: "failed", error: { name: brokenResponse, message } },
    logCount: 0,
  }
}

/** Undefined if there are too many. */
async function readBytes(
  { body }: ProgramResponse,
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  if (body instanceof Uint8Array) return body.length <= bytesMax ? body : undefined
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body ?? []) {
    bytes += part.length
    if (bytes > bytesMax) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}
