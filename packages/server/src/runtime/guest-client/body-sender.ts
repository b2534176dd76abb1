/** The connection on which a body is sent. */
export interface BodyTarget {
  /** False when not everything was written: nothing else may be written until `drained`. */
  write(bytes: Uint8Array): boolean
  drained(): Promise<void>
}

const lastChunk = Buffer.from("0\r\n\r\n")

/** Sends a stream as the body of a request, as fast as the process reads it. */
export class BodySender {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #target: BodyTarget
  /** The chunk that is being written. The buffer is reused for the next one. */
  #chunk = Buffer.alloc(0)
  #isStopped = false

  constructor(body: ReadableStream<Uint8Array>, target: BodyTarget) {
    this.#reader = body.getReader()
    this.#target = target
  }

  /**
   * Resolves when everything is sent, or after `stop`. Rejects when the stream fails, or does not
   * have the given length.
   */
  async send(length: number | undefined): Promise<void> {
    let sent = 0
    while (!this.#isStopped) {
      const { done, value } = await this.#reader.read()
      if (this.#isStopped) return
      if (done) break
      sent += value.length
      if (length !== undefined && sent > length)
        throw new Error("it is longer than its content-length")
      if (
        value.length > 0 &&
        !this.#target.write(length === undefined ? this.#toChunk(value) : value)
      )
        await this.#target.drained()
    }
    if (this.#isStopped) return
    if (length === undefined) this.#target.write(lastChunk)
    else if (sent < length) throw new Error("it is shorter than its content-length")
  }

  /** Cancels the stream. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#reader.cancel().catch(() => {})
  }

  /** Copies the framing and the content into one buffer, which takes one system call. */
  #toChunk(bytes: Uint8Array): Uint8Array {
    const head = `${bytes.length.toString(16)}\r\n`
    const length = head.length + bytes.length + 2
    if (this.#chunk.length < length) this.#chunk = Buffer.allocUnsafeSlow(length)
    this.#chunk.write(head, "latin1")
    this.#chunk.set(bytes, head.length)
    this.#chunk.write("\r\n", head.length + bytes.length, "latin1")
    return this.#chunk.subarray(0, length)
  }
}
