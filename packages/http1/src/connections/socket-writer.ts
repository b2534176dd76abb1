/** The part of a socket that a writer uses. */
export interface WritableSocket {
  /** Returns how many bytes the socket took. When it took fewer, `drain` follows. */
  write(bytes: Uint8Array, from: number, length: number): number
}

/**
 * Smaller parts are copied together, so that a head and its body are one system call. Copying
 * larger ones costs more than it saves.
 */
const smallBytesMax = 32_768
const scratch = Buffer.allocUnsafeSlow(2 * smallBytesMax)

/**
 * Writes to a socket: small parts together at the end of the event loop's turn, the rest as soon
 * as the socket takes it.
 */
export class SocketWriter {
  #socket: WritableSocket | undefined
  #waiting: (Uint8Array | string)[] = []
  #waitingBytes = 0
  #isScheduled = false
  #isClosed = false
  #onEmpty: (() => void) | undefined
  #drained: PromiseWithResolvers<void> | undefined
  /**
   * The socket is not open yet, or has not taken everything. Callers wait for `drained` before they
   * add more.
   */
  isFull = true

  /** Whether everything was taken by the socket. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** Sets the socket, and writes what was added before. */
  open(socket: WritableSocket): void {
    this.#socket = socket
    this.drain()
  }

  /** A string is Latin-1. */
  add(part: Uint8Array | string): void {
    if (this.#isClosed) return
    this.#waiting.push(part)
    this.#waitingBytes += part.length
    if (this.isFull) return
    if (this.#waitingBytes > smallBytesMax) this.#flush()
    else if (!this.#isScheduled) {
      this.#isScheduled = true
      sendSoon(this)
    }
  }

  /** Adds a part of a chunked body. */
  addChunk(bytes: Uint8Array): void {
    // An empty chunk would be the last one.
    if (bytes.length === 0) return
    this.add(`${bytes.length.toString(16)}\r\n`)
    this.add(bytes)
    this.add("\r\n")
  }

  /** Ends a chunked body. */
  addLastChunk(): void {
    this.add("0\r\n\r\n")
  }

  sendNow(): void {
    this.#isScheduled = false
    if (!this.isFull) this.#flush()
  }

  /** To be called when the socket takes more. */
  drain(): void {
    if (!this.isFull) return
    this.isFull = false
    this.#flush()
    if (!this.isFull) this.#releaseWaiters()
  }

  /** Resolves when everything was taken, or the writer was closed. */
  async drained(): Promise<void> {
    if (!this.isFull || this.#isClosed) return
    this.#drained ??= Promise.withResolvers<void>()
    await this.#drained.promise
  }

  /** Calls back when everything is written. */
  finish(onEmpty: () => void): void {
    if (!this.isFull) this.#flush()
    if (this.#waiting.length === 0) onEmpty()
    else this.#onEmpty = onEmpty
  }

  /** Drops what is not written yet. */
  close(): void {
    this.#socket = undefined
    this.#waiting = []
    this.#waitingBytes = 0
    this.#onEmpty = undefined
    this.#isClosed = true
    this.#releaseWaiters()
  }

  #releaseWaiters(): void {
    this.#drained?.resolve()
    this.#drained = undefined
  }

  #flush(): void {
    const socket = this.#socket
    if (!socket) return
    while (this.#waiting.length > 0) {
      const bytes = this.#takeUncopied() ?? scratch
      const length = bytes === scratch ? this.#fillScratch() : bytes.length
      // A socket that is closed returns -1.
      const count = Math.max(0, socket.write(bytes, 0, length))
      this.#waitingBytes -= count
      if (count < length) {
        const rest = bytes.subarray(count, length)
        // The scratch is reused at once. A Buffer's own `slice` would not copy.
        this.#waiting.unshift(bytes === scratch ? new Uint8Array(rest) : rest)
        this.isFull = true
        return
      }
    }
    const onEmpty = this.#onEmpty
    this.#onEmpty = undefined
    onEmpty?.()
  }

  /** The first part, if it is large or there is nothing to combine it with. */
  #takeUncopied(): Uint8Array | undefined {
    const first = this.#waiting[0]
    if (
      first === undefined ||
      (first.length <= smallBytesMax && (this.#waiting.length > 1 || typeof first === "string"))
    )
      return undefined
    this.#waiting.shift()
    return typeof first === "string" ? Buffer.from(first, "latin1") : first
  }

  /** Copies as many of the first parts as fit into the scratch. Returns their bytes. */
  #fillScratch(): number {
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

/** The writers that send at the end of this turn. */
let scheduled: SocketWriter[] = []

/**
 * Calls `sendNow` at the end of the event loop's turn, together with all other writers. If every
 * request were written at once, each would wake its process separately and its response would
 * arrive separately. Batching saves a tenth of the server's time per request.
 */
function sendSoon(writer: SocketWriter): void {
  if (scheduled.length === 0) setImmediate(sendAll)
  scheduled.push(writer)
}

function sendAll(): void {
  const writers = scheduled
  scheduled = []
  for (const writer of writers) writer.sendNow()
}
