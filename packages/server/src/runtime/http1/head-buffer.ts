const headEnd = Buffer.from("\r\n\r\n")
const nothing = Buffer.alloc(0)

/** What has come of a head so far. */
export interface Gathered {
  readonly all: Buffer
  /** Where the empty line begins that ends it; -1 when there is more to come. */
  readonly end: number
  /** Where that line ends. */
  readonly after: number
}

/**
 * Gathers the head of a message, wherever its bytes are cut into reads. Whoever uses it says how
 * long it may become.
 */
export class HeadBuffer {
  #saved: Buffer = nothing
  #savedBytes = 0

  /** Nothing is kept once the end has come. */
  push(bytes: Buffer): Gathered {
    const from = this.#savedBytes
    const all = from === 0 ? bytes : this.#save(bytes)
    const end = all.indexOf(headEnd, Math.max(0, from - headEnd.length + 1))
    if (end >= 0) this.clear()
    else if (from === 0) this.#save(bytes)
    return { all, end, after: end + headEnd.length }
  }

  get isEmpty(): boolean {
    return this.#savedBytes === 0
  }

  clear(): void {
    this.#saved = nothing
    this.#savedBytes = 0
  }

  /** Grows by doubling: a head that comes byte by byte must not be copied for each of them. */
  #save(bytes: Buffer): Buffer {
    const needed = this.#savedBytes + bytes.length
    if (needed > this.#saved.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#saved.length, 1024))
      this.#saved.copy(grown, 0, 0, this.#savedBytes)
      this.#saved = grown
    }
    bytes.copy(this.#saved, this.#savedBytes)
    this.#savedBytes = needed
    return this.#saved.subarray(0, needed)
  }
}
