import type { Deadlines, Overseen } from "../deadlines.ts"
import type { GatewayLimits } from "../limits.ts"

/** Hears how an answer ended; exactly one of these, once. */
export interface ResponseEnd {
  ended(): void
  /** The val's side of it broke. */
  broke(error: unknown): void
  /** The client went away, or read nothing for too long. */
  left(): void
  expired(): void
}

type StreamLimits = Pick<GatewayLimits, "streamMsMax" | "stalledMsMax">

/**
 * Passes an answer on piece by piece, as fast as the client reads it and as soon as the val writes
 * it.
 */
export class ResponseStream implements Overseen {
  readonly stream: ReadableStream<Uint8Array>
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #end: ResponseEnd
  readonly #deadlines: Deadlines
  readonly #limits: StreamLimits
  readonly #startedMs = performance.now()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  /** Since when a piece waits for the client; 0 while we wait for the val. */
  #offeredMs = 0
  #isOver = false

  constructor(
    source: ReadableStream<Uint8Array>,
    end: ResponseEnd,
    deadlines: Deadlines,
    limits: StreamLimits,
  ) {
    this.#reader = source.getReader()
    this.#end = end
    this.#deadlines = deadlines
    this.#limits = limits
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#pull(),
        cancel: () => this.#leave(),
      },
      { highWaterMark: 0 },
    )
    deadlines.add(this)
  }

  check(nowMs: number): boolean {
    if (nowMs - this.#startedMs > this.#limits.streamMsMax)
      this.#breakOff(() => this.#end.expired())
    else if (this.#offeredMs > 0 && nowMs - this.#offeredMs > this.#limits.stalledMsMax)
      this.#breakOff(() => this.#end.left())
    return this.#isOver
  }

  /** Ends it from our side, as if the val had broken it off. */
  end(): void {
    this.#breakOff(() => this.#end.broke(undefined))
  }

  async #pull(): Promise<void> {
    this.#offeredMs = 0
    try {
      const { done, value } = await this.#reader.read()
      if (this.#isOver) return
      if (!done) {
        this.#offeredMs = performance.now()
        this.#controller?.enqueue(value)
        return
      }
      this.#over()
      this.#end.ended()
      this.#controller?.close()
    } catch (error) {
      this.#breakOff(() => this.#end.broke(error))
    }
  }

  #leave(): void {
    if (this.#isOver) return
    this.#over()
    this.#end.left()
    this.#cancelSource()
  }

  /** Ends the connection in the middle: the client must not take what it has for the whole. */
  #breakOff(tell: () => void): void {
    if (this.#isOver) return
    this.#over()
    tell()
    this.#cancelSource()
    // Bun prints whatever else a stream breaks with, and a val could fill the log of the server
    // with it.
    this.#controller?.error(undefined)
  }

  #over(): void {
    this.#isOver = true
    this.#deadlines.remove(this)
  }

  #cancelSource(): void {
    this.#reader.cancel().catch(() => {})
  }
}
