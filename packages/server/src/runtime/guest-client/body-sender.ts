/** Where a body goes. */
export interface BodyTarget {
  /**
   * False when not all could be written yet: then `drained` tells when. Nothing else may be written
   * until then.
   */
  write(bytes: Uint8Array): boolean
  drained(): Promise<void>
}

const lastChunk = Buffer.from("0\r\n\r\n")

/** Sends a stream as the body of a request, as fast as it is taken. */
export class BodySender {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #target: BodyTarget
  /**
   * The chunk that is being written; nobody needs it once it has been, so that one buffer is enough
   * for a body of any length.
   */
  #chunk = Buffer.alloc(0)
  #isStopped = false

  constructor(body: ReadableStream<Uint8Array>, target: BodyTarget) {
    this.#reader = body.getReader()
    this.#target = target
  }

  /**
   * Resolves when all is sent, or it was stopped; rejects when the body breaks, or is not as long
   * as it was said to be.
   */
  async send(length: number | undefined): Promise<void> {
    let sent = 0
    while (!this.#isStopped) {
      const { done, value } = await this.#reader.read()
      if (this.#isStopped) return
      if (done) break
      sent += value.length
      if (length !== undefined && sent > length)
        throw new Error("it is longer than it was said to be")
      if (
        value.length > 0 &&
        !this.#target.write(length === undefined ? this.#toChunk(value) : value)
      )
        await this.#target.drained()
    }
    if (this.#isStopped) return
    if (length === undefined) this.#target.write(lastChunk)
    else if (sent < length) throw new Error("it is shorter than it was said to be")
  }

  /** Nobody wants the rest. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#reader.cancel().catch(() => {})
  }

  /** In one piece: every further one would be a call of the system. */
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
