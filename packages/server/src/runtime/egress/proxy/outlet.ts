import { sendSoon } from "../../http1/send-queue.ts"

/** What can be written to. */
export interface Drain {
  /** How many bytes it has taken; it tells when it takes more. */
  write(bytes: Uint8Array, from: number, length: number): number
}

/**
 * What is smaller is copied together, so that a head and its body are one call of the system; what
 * is larger is not worth a copy.
 */
const smallBytesMax = 32_768
const scratch = Buffer.allocUnsafeSlow(2 * smallBytesMax)

/**
 * Writes to a socket: small things together at the end of the turn, the rest as soon as the socket
 * takes it.
 */
export class Outlet {
  readonly #onRoom: () => void
  #drain: Drain | undefined
  /** Texts are Latin-1, and become bytes where they are put together. */
  #waiting: (Uint8Array | string)[] = []
  #waitingBytes = 0
  #isSoon = false
  #isClosed = false
  #onEmpty: (() => void) | undefined
  /** The socket has not taken all of it: nothing more should come until there is room. */
  isFull = false

  constructor(onRoom: () => void) {
    this.#onRoom = onRoom
  }

  open(drain: Drain): void {
    this.#drain = drain
  }

  add(part: Uint8Array | string): void {
    if (this.#isClosed) return
    this.#waiting.push(part)
    this.#waitingBytes += part.length
    if (this.isFull) return
    if (this.#waitingBytes > smallBytesMax) this.#flush()
    else if (!this.#isSoon) {
      this.#isSoon = true
      sendSoon(this)
    }
  }

  sendNow(): void {
    this.#isSoon = false
    if (!this.isFull) this.#flush()
  }

  /** The socket takes more. */
  drain(): void {
    if (!this.isFull) return
    this.isFull = false
    this.#flush()
    if (!this.isFull) this.#onRoom()
  }

  /** Calls back when all of it is written. */
  finish(onEmpty: () => void): void {
    if (!this.isFull) this.#flush()
    if (this.#waiting.length === 0) onEmpty()
    else this.#onEmpty = onEmpty
  }

  /** Forgets what is not written yet. */
  close(): void {
    this.#drain = undefined
    this.#waiting = []
    this.#waitingBytes = 0
    this.#onEmpty = undefined
    this.#isClosed = true
  }

  #flush(): void {
    const drain = this.#drain
    if (!drain) return
    while (this.#waiting.length > 0) {
      const bytes = this.#takeAlone() ?? scratch
      const length = bytes === scratch ? this.#gather() : bytes.length
      const count = Math.max(0, drain.write(bytes, 0, length))
      this.#waitingBytes -= count
      if (count < length) {
        const rest = bytes.subarray(count, length)
        // The scratch is needed for others. A Buffer's own `slice` would not copy.
        this.#waiting.unshift(bytes === scratch ? new Uint8Array(rest) : rest)
        this.isFull = true
        return
      }
    }
    const onEmpty = this.#onEmpty
    this.#onEmpty = undefined
    onEmpty?.()
  }

  /** The first, if there is nothing to put it together with. */
  #takeAlone(): Uint8Array | undefined {
    const first = this.#waiting[0]
    if (
      first === undefined ||
      (first.length <= smallBytesMax && (this.#waiting.length > 1 || typeof first === "string"))
    )
      return undefined
    this.#waiting.shift()
    return typeof first === "string" ? Buffer.from(first, "latin1") : first
  }

  /** Puts as many of the first as fit into the scratch. */
  #gather(): number {
    const waiting = this.#waiting
    let count = 0
    let bytes = 0
    for (const part of waiting) {
      if (part.length > smallBytesMax || bytes + part.length > scratch.length) break
      if (typeof part === "string") scratch.write(part, bytes, "latin1")
      else scratch.set(part, bytes)
      bytes += part.length
      count++
    }
    if (count === waiting.length) this.#waiting = []
    else waiting.splice(0, count)
    return bytes
  }
}
