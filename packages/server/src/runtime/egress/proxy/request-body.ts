import { ChunkDecoder, type Decoded } from "../../http1/chunk-decoder.ts"
import type { MessageLimits } from "../../http1/http1-limits.ts"

/** Takes the body of a request out of the bytes that follow its head. */
export class RequestBody {
  readonly #chunks: ChunkDecoder | undefined
  #left: number

  /** With an infinite length, all that follows is its body. */
  constructor(framing: number | "chunked", limits: MessageLimits) {
    this.#chunks = framing === "chunked" ? new ChunkDecoder(limits) : undefined
    this.#left = framing === "chunked" ? 0 : framing
  }

  get isOver(): boolean {
    return this.#chunks ? this.#chunks.isOver : this.#left === 0
  }

  /** What of these bytes belongs to the body. A text says what is wrong. */
  read(bytes: Uint8Array): Decoded | string {
    if (this.#chunks) return this.#chunks.decode(bytes, 0)
    const count = Math.min(this.#left, bytes.length)
    this.#left -= count
    return { content: count === bytes.length ? bytes : bytes.subarray(0, count), read: count }
  }
}
