/** The part of a socket that a pipe uses. */
export interface PipeSocket {
  /** Returns how many bytes the socket took; -1 if it is closed. When fewer, `drain` follows. */
  write(bytes: Uint8Array): number
  /** Sends what was taken, and then the end. */
  shutdown(): void
  pause(): void
  resume(): void
}

/**
 * Forwards the bytes of one socket to another, no faster than the other takes them: it holds only
 * what one read has returned, and reads no more until that is written.
 */
export class BytePipe {
  readonly #from: PipeSocket
  readonly #to: PipeSocket
  #waiting: Uint8Array[] = []
  #hasEnded = false
  /** Whether the end was passed on. Nothing follows. */
  isOver = false

  constructor(from: PipeSocket, to: PipeSocket) {
    this.#from = from
    this.#to = to
  }

  push(bytes: Uint8Array): void {
    if (this.#hasEnded) return
    // Sockets deliver what they have read already after they were paused.
    if (this.#waiting.length > 0) return void this.#waiting.push(bytes)
    const count = Math.max(0, this.#to.write(bytes))
    if (count === bytes.length) return
    this.#waiting.push(bytes.subarray(count))
    this.#from.pause()
  }

  /** To be called when the other socket takes more. */
  drain(): void {
    if (this.#waiting.length === 0) return
    for (let bytes = this.#waiting[0]; bytes; bytes = this.#waiting[0]) {
      const count = Math.max(0, this.#to.write(bytes))
      if (count < bytes.length) {
        this.#waiting[0] = bytes.subarray(count)
        return
      }
      this.#waiting.shift()
    }
    if (this.#hasEnded) this.#finish()
    else this.#from.resume()
  }

  /** The first socket sends no more. What it has sent still arrives. */
  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    if (this.#waiting.length === 0) this.#finish()
  }

  #finish(): void {
    this.isOver = true
    this.#to.shutdown()
  }
}
