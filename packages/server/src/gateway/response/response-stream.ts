import { PieceRate, type Watchdog, type Watched } from "@hamlet/kit"
import type { BodySample } from "../../domain/runs/contents/response-keeper.ts"
import type { GatewayLimits } from "../limits.ts"

/** Called when a response has ended: exactly one of these methods, once. */
export interface ResponseEnd {
  ended(): void
  /** The val's side failed. */
  broke(error: unknown): void
  /** The client disconnected, or read nothing for too long. */
  left(): void
  expired(): void
}

type StreamLimits = Pick<GatewayLimits, "streamMsMax" | "stalledMsMax">

/** Forwards a response chunk by chunk, at the pace of the client and without delay. */
export class ResponseStream implements Watched {
  readonly stream: ReadableStream<Uint8Array>
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #end: ResponseEnd
  readonly #deadlines: Watchdog
  readonly #limits: StreamLimits
  readonly #startedMs = performance.now()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  /** When the current chunk was offered to the client; 0 while waiting for the val. */
  #offeredMs = 0
  #isFinished = false
  readonly #rate = new PieceRate()
  readonly #sample: Pick<BodySample, "add"> | undefined

  constructor(
    source: ReadableStream<Uint8Array>,
    end: ResponseEnd,
    deadlines: Watchdog,
    limits: StreamLimits,
    sample?: Pick<BodySample, "add">,
  ) {
    this.#sample = sample
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
    if (nowMs - this.#startedMs > this.#limits.streamMsMax) this.#abort(() => this.#end.expired())
    else if (this.#offeredMs > 0 && nowMs - this.#offeredMs > this.#limits.stalledMsMax)
      this.#abort(() => this.#end.left())
    return this.#isFinished
  }

  /** Ends the response as if the val's side had failed. */
  end(): void {
    this.#abort(() => this.#end.broke(undefined))
  }

  async #pull(): Promise<void> {
    this.#offeredMs = 0
    try {
      const { done, value } = await this.#reader.read()
      if (this.#isFinished) return
      if (!done) {
        this.#offeredMs = performance.now()
        this.#sample?.add(value)
        this.#controller?.enqueue(value)
        await this.#rate.count(value.length)
        return
      }
      this.#finish()
      this.#end.ended()
      this.#controller?.close()
    } catch (error) {
      this.#abort(() => this.#end.broke(error))
    }
  }

  #leave(): void {
    if (this.#isFinished) return
    this.#finish()
    this.#end.left()
    this.#cancelSource()
  }

  /** Closes the connection mid-response, so that the client does not take it for complete. */
  #abort(notify: () => void): void {
    if (this.#isFinished) return
    this.#finish()
    notify()
    this.#cancelSource()
    // Bun prints any other error of a stream, so a val could fill the log of the server.
    this.#controller?.error(undefined)
  }

  #finish(): void {
    this.#isFinished = true
    this.#deadlines.remove(this)
  }

  #cancelSource(): void {
    this.#reader.cancel().catch(() => {})
  }
}
