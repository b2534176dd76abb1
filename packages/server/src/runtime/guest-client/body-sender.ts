import { createTimeSlice } from "../../shared/time-slice.ts"
import type { Exchange } from "../http1/exchange.ts"

/** Sends a stream as the body of a request, as fast as the process reads it. */
export class BodySender {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #exchange: Exchange
  #isStopped = false

  constructor(body: ReadableStream<Uint8Array>, exchange: Exchange) {
    this.#reader = body.getReader()
    this.#exchange = exchange
  }

  /**
   * Resolves when everything is sent, or after `stop`. Rejects when the stream fails, or does not
   * have the length that the request states.
   */
  async send(): Promise<void> {
    const { framing } = this.#exchange.request
    // A stream that always has a small part ready would otherwise block the event loop until the
    // socket is full.
    const yieldIfDue = createTimeSlice()
    let sent = 0
    while (!this.#isStopped) {
      // The first part waits until the connection is open.
      await this.#exchange.drained()
      const { done, value } = await this.#reader.read()
      if (this.#isStopped) return
      if (done) break
      sent += value.length
      if (framing !== "chunked" && sent > framing)
        throw new Error("it is longer than its content-length")
      this.#exchange.write(value)
      await yieldIfDue()
    }
    if (this.#isStopped) return
    if (framing !== "chunked" && sent < framing)
      throw new Error("it is shorter than its content-length")
    this.#exchange.endBody()
  }

  /** Cancels the stream. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#reader.cancel().catch(() => {})
  }
}
