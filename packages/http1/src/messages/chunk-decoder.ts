import type { Http1Limits } from "../http1-limits.ts"

/** The result of decoding a part of a body. */
export interface Decoded {
  /** The content without its framing. */
  readonly content: Uint8Array
  /**
   * How many bytes were consumed: all of them, unless the body has ended, or the framing among them
   * was too much for one call.
   */
  readonly read: number
  /** How many of these were framing. */
  readonly framing: number
}

const cr = 13
const lf = 10
/** A number cannot represent more hexadecimal digits exactly. */
const digitsMax = 13
/** Content up to this length is moved byte by byte, which is faster than a call. */
const movedBytesMax = 16

/**
 * Decodes a chunked body, however it is split into reads.
 *
 *   size ─▶ (extension) ─▶ sizeEnd ─▶ data ─▶ dataEnd1 ─▶ dataEnd2 ─▶ size …
 *                             └─ last ─▶ trailerStart ─▶ (trailer ─▶ trailerEnd ─▶ trailerStart) ─▶ end ─▶ over
 */
export class ChunkDecoder {
  readonly #limits: Http1Limits
  #state:
    | "size"
    | "extension"
    | "sizeEnd"
    | "data"
    | "dataEnd1"
    | "dataEnd2"
    | "trailerStart"
    | "trailer"
    | "trailerEnd"
    | "end" = "size"
  #size = 0
  #digits = 0
  #lineBytes = 0
  #trailerBytes = 0
  isOver = false
  /** What is wrong with the body, if it is malformed. Nothing after it is decoded. */
  problem: string | undefined

  constructor(limits: Http1Limits) {
    this.#limits = limits
  }

  /**
   * Joins the contents of the chunks in place: `bytes` is overwritten. Returns the content up to the
   * end of the body or up to a `problem`, and no more than the limit of framing allows: a body in
   * small chunks is mostly framing, of which each byte is a step.
   */
  decode(bytes: Uint8Array, from: number): Decoded {
    const { framingPerReadMax } = this.#limits
    let at = from
    let start = at
    let end = at
    let framing = 0
    while (at < bytes.length && !this.isOver) {
      if (this.#state !== "data") {
        if (framing >= framingPerReadMax) break
        this.problem = this.#step(bytes[at] as number)
        if (this.problem !== undefined) break
        framing++
        at++
        continue
      }
      const count = Math.min(this.#size, bytes.length - at)
      if (start === end) start = end = at
      else move(bytes, end, at, count)
      end += count
      at += count
      this.#size -= count
      if (this.#size === 0) this.#state = "dataEnd1"
    }
    return { content: bytes.subarray(start, end), read: at - from, framing }
  }

  #step(byte: number): string | undefined {
    switch (this.#state) {
      case "size":
      case "extension":
      case "sizeEnd":
        return this.#stepSize(byte)
      case "dataEnd1":
        this.#state = "dataEnd2"
        return byte === cr ? undefined : "a chunk is longer than its size line says"
      case "dataEnd2":
        this.#state = "size"
        this.#size = this.#digits = this.#lineBytes = 0
        return byte === lf ? undefined : "a chunk is longer than its size line says"
      default:
        return this.#stepTrailer(byte)
    }
  }

  #stepSize(byte: number): string | undefined {
    if (this.#state === "sizeEnd") {
      this.#state = this.#size === 0 ? "trailerStart" : "data"
      return byte === lf ? undefined : "a chunk has an invalid size line"
    }
    if (++this.#lineBytes > this.#limits.chunkLineBytesMax)
      return "the size line of a chunk is too long"
    if (byte === cr && this.#digits > 0) this.#state = "sizeEnd"
    else if (this.#state === "extension")
      return isText(byte) ? undefined : "the size line of a chunk contains a control character"
    else if (this.#digits > 0 && (byte === 59 || byte === 32 || byte === 9))
      this.#state = "extension"
    else {
      const digit = toHexDigit(byte)
      if (digit === undefined || ++this.#digits > digitsMax)
        return "a chunk has an invalid size line"
      this.#size = this.#size * 16 + digit
    }
    return undefined
  }

  /** Trailers are dropped, but they must be well-formed and end. */
  #stepTrailer(byte: number): string | undefined {
    if (++this.#trailerBytes > this.#limits.trailerBytesMax) return "its trailer is too long"
    if (this.#state === "end" || this.#state === "trailerEnd") {
      if (byte !== lf) return "its trailer contains a control character"
      this.isOver = this.#state === "end"
      this.#state = "trailerStart"
    } else if (byte === cr) this.#state = this.#state === "trailerStart" ? "end" : "trailerEnd"
    else if (isText(byte)) this.#state = "trailer"
    else return "its trailer contains a control character"
    return undefined
  }
}

function move(bytes: Uint8Array, to: number, from: number, count: number): void {
  if (count > movedBytesMax) bytes.copyWithin(to, from, from + count)
  else for (let index = 0; index < count; index++) bytes[to + index] = bytes[from + index] as number
}

function isText(byte: number): boolean {
  return (byte >= 32 && byte !== 127) || byte === 9
}

function toHexDigit(byte: number): number | undefined {
  if (byte >= 48 && byte <= 57) return byte - 48
  const letter = byte | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : undefined
}
