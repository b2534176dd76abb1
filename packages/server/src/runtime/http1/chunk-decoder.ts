import type { MessageLimits } from "./http1-limits.ts"

/** What the bytes up to some point of a body in chunks were. */
export interface Decoded {
  /** What the chunks hold. */
  readonly content: Uint8Array
  /** How many bytes were read. All of them, unless the body has ended. */
  readonly read: number
}

type ChunkLimits = Pick<MessageLimits, "chunkLineBytesMax" | "trailerBytesMax">

const cr = 13
const lf = 10
/** More hexadecimal digits than that no number can hold. */
const digitsMax = 13

/**
 * Takes the chunks off a body, however the bytes are cut into reads.
 *
 *   size ─▶ (extension) ─▶ sizeEnd ─▶ data ─▶ dataEnd1 ─▶ dataEnd2 ─▶ size …
 *                             └─ last ─▶ trailerStart ─▶ (trailer ─▶ trailerEnd ─▶ trailerStart) ─▶ end ─▶ over
 */
export class ChunkDecoder {
  readonly #limits: ChunkLimits
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

  constructor(limits: ChunkLimits) {
    this.#limits = limits
  }

  /**
   * Moves what the chunks hold together, within the bytes it was given; they are its own from now
   * on. A text says what is wrong.
   */
  decode(bytes: Uint8Array, from: number): Decoded | string {
    let at = from
    let start = at
    let end = at
    while (at < bytes.length && !this.isOver) {
      if (this.#state !== "data") {
        const problem = this.#step(bytes[at] as number)
        if (problem !== undefined) return problem
        at++
        continue
      }
      const count = Math.min(this.#size, bytes.length - at)
      if (start === end) start = end = at
      else bytes.copyWithin(end, at, at + count)
      end += count
      at += count
      this.#size -= count
      if (this.#size === 0) this.#state = "dataEnd1"
    }
    return { content: bytes.subarray(start, end), read: at - from }
  }

  #step(byte: number): string | undefined {
    switch (this.#state) {
      case "size":
      case "extension":
      case "sizeEnd":
        return this.#stepSize(byte)
      case "dataEnd1":
        this.#state = "dataEnd2"
        return byte === cr ? undefined : "a chunk of it is longer than it says"
      case "dataEnd2":
        this.#state = "size"
        this.#size = this.#digits = this.#lineBytes = 0
        return byte === lf ? undefined : "a chunk of it is longer than it says"
      default:
        return this.#stepTrailer(byte)
    }
  }

  #stepSize(byte: number): string | undefined {
    if (this.#state === "sizeEnd") {
      this.#state = this.#size === 0 ? "trailerStart" : "data"
      return byte === lf ? undefined : "a chunk of it has no proper length"
    }
    if (++this.#lineBytes > this.#limits.chunkLineBytesMax)
      return "the line before a chunk of it is too long"
    if (byte === cr && this.#digits > 0) this.#state = "sizeEnd"
    else if (this.#state === "extension")
      return isText(byte) ? undefined : "there is a control character before a chunk of it"
    else if (this.#digits > 0 && (byte === 59 || byte === 32 || byte === 9))
      this.#state = "extension"
    else {
      const digit = toHexDigit(byte)
      if (digit === undefined || ++this.#digits > digitsMax)
        return "a chunk of it has no proper length"
      this.#size = this.#size * 16 + digit
    }
    return undefined
  }

  /**
   * What follows the last chunk means nothing to us, but it has to look like what it is and to come
   * to an end.
   */
  #stepTrailer(byte: number): string | undefined {
    if (++this.#trailerBytes > this.#limits.trailerBytesMax)
      return "what follows its last chunk is too long"
    if (this.#state === "end" || this.#state === "trailerEnd") {
      if (byte !== lf) return "there is a control character after its last chunk"
      this.isOver = this.#state === "end"
      this.#state = "trailerStart"
    } else if (byte === cr) this.#state = this.#state === "trailerStart" ? "end" : "trailerEnd"
    else if (isText(byte)) this.#state = "trailer"
    else return "there is a control character after its last chunk"
    return undefined
  }
}

function isText(byte: number): boolean {
  return (byte >= 32 && byte !== 127) || byte === 9
}

function toHexDigit(byte: number): number | undefined {
  if (byte >= 48 && byte <= 57) return byte - 48
  const letter = byte | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : undefined
}
