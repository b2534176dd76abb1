import { createTimeSlice, TokenBucket } from "@hamlet/kit"
import type { Http1Limits } from "../http1-limits.ts"
import type { ByteSource } from "./byte-queue.ts"

/** What a step of a reader has left, and how many of the bytes that it has read were framing. */
export interface ReadStep {
  readonly rest: Uint8Array | undefined
  readonly framing: number
}

/** The step of a reader that has read everything, and no chunks. */
export const readAll: ReadStep = { rest: undefined, framing: 0 }

/** Less framing than this is not worth a look at the clock: large chunks have little. */
const countedMin = 1_024

/**
 * Hands the bytes of a socket to a reader in steps. Between two of them other work may have its turn,
 * and a sender of too much framing has to wait: meanwhile its socket is paused.
 */
export class PacedReader {
  readonly #source: ByteSource
  readonly #read: (bytes: Uint8Array) => ReadStep
  readonly #framingPerSecondMax: number
  readonly #pause = createTimeSlice()
  #framing: TokenBucket | undefined
  /** Framing that is not counted yet. */
  #uncounted = 0
  #waiting: Uint8Array[] = []
  #onRead: (() => void) | undefined
  #isStopped = false
  /** Whether bytes are read later. */
  isWaiting = false

  constructor(
    source: ByteSource,
    { framingPerSecondMax }: Pick<Http1Limits, "framingPerSecondMax">,
    read: (bytes: Uint8Array) => ReadStep,
  ) {
    this.#source = source
    this.#framingPerSecondMax = framingPerSecondMax
    this.#read = read
  }

  push(bytes: Uint8Array): void {
    if (this.isWaiting) this.#waiting.push(bytes)
    else this.#readOn(bytes)
  }

  /** Calls back when everything that has come is read: now, if nothing waits. */
  whenRead(act: () => void): void {
    if (this.isWaiting) this.#onRead = act
    else act()
  }

  /** Drops what waits. */
  stop(): void {
    this.#isStopped = true
    this.#waiting = []
    this.#onRead = undefined
  }

  #readOn(bytes: Uint8Array): void {
    for (let rest: Uint8Array | undefined = bytes; rest && !this.#isStopped; ) {
      const step: ReadStep = this.#read(rest)
      rest = step.rest
      const wait = step.framing === 0 ? undefined : this.#pace(step.framing)
      if (wait === undefined) continue
      this.isWaiting = true
      if (rest) this.#waiting.push(rest)
      this.#source.pause()
      void wait.then(() => this.#continue())
      return
    }
  }

  #pace(more: number): Promise<void> | undefined {
    this.#uncounted += more
    if (this.#uncounted < countedMin) return undefined
    const framing = this.#uncounted
    this.#uncounted = 0
    const nowMs = performance.now()
    this.#framing ??= new TokenBucket(this.#framingPerSecondMax, 1_000, nowMs)
    if (this.#framing.take(framing, nowMs)) return this.#pause()
    this.#framing.charge(framing)
    return Bun.sleep(Math.ceil(this.#framing.msUntilToken))
  }

  /** What waits is read together: a message that ends before must not look like the last one. */
  #continue(): void {
    this.isWaiting = false
    if (this.#isStopped) return
    const [first, ...more] = this.#waiting
    this.#waiting = []
    if (first) this.#readOn(more.length === 0 ? first : Buffer.concat([first, ...more]))
    if (this.isWaiting) return
    const onRead = this.#onRead
    this.#onRead = undefined
    if (onRead) onRead()
    else if (!this.#isStopped) this.#source.resume()
  }
}
