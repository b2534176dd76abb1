const headEnd = Buffer.from("\r\n\r\n")
const nothing = Buffer.alloc(0)

/** The bytes of a head that have arrived so far. */
export interface ReceivedHead {
  readonly all: Buffer
  /** The offset of the empty line that ends the head; -1 while it is incomplete. */
  readonly end: number
  /** The offset behind that line. */
  readonly after: number
}

/** Collects the head of a message from several reads. The caller limits its length. */
export class HeadBuffer {
  #saved: Buffer = nothing
  #savedBytes = 0

  /** Adds bytes. The buffer is empty again after the end of a head. */
  push(bytes: Buffer): ReceivedHead {
    const from = this.#savedBytes
    const all = from === 0 ? bytes : this.#save(bytes)
    const end = all.indexOf(headEnd, Math.max(0, from - headEnd.length + 1))
    if (end >= 0) this.clear()
    else if (from === 0) this.#save(bytes)
    return { all, end, after: end + headEnd.length }
  }

  clear(): void {
    this.#saved = nothing
    this.#savedBytes = 0
  }

  /** Doubles in size, so that a head that arrives byte by byte is not copied for every byte. */
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
