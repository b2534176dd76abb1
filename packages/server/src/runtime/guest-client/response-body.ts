/** The connection that receives the body of a response. */
export interface BodySource {
  pause(): void
  resume(): void
  /** The reader has cancelled the stream. */
  cancel(): void
}

/** The body of a response as a stream. Its source is paused while too much is unread. */
export class ResponseBody {
  readonly stream: ReadableStream<Uint8Array>
  readonly #source: BodySource
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #isOver = false

  constructor(source: BodySource, aheadBytesMax: number) {
    this.#source = source
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => {
          if (!this.#isOver) this.#source.resume()
        },
        cancel: () => {
          if (this.#isOver) return
          this.#isOver = true
          this.#source.cancel()
        },
      },
      { highWaterMark: aheadBytesMax, size: (bytes) => bytes?.length ?? 0 },
    )
  }

  add(bytes: Uint8Array): void {
    if (this.#isOver) return
    this.#controller?.enqueue(bytes)
    if ((this.#controller?.desiredSize ?? 0) <= 0) this.#source.pause()
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#controller?.close()
  }

  fail(message: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#controller?.error(new Error(message))
  }
}
