/** The bytes that one end of a WebSocket has not read, and for how long it has read none of them. */
export class UnreadBytes {
  #bytes = 0
  #sinceMs = 0

  get bytes(): number {
    return this.#bytes
  }

  /** Call before more is sent, and from time to time: fewer than before means that it reads. */
  observe(bytes: number, nowMs: number): void {
    if (bytes < this.#bytes || this.#bytes === 0) this.#sinceMs = nowMs
    this.#bytes = bytes
  }

  /** Call after more was sent. */
  noteSent(bytes: number): void {
    this.#bytes = bytes
  }

  isStalled(nowMs: number, msMax: number): boolean {
    return this.#bytes > 0 && nowMs - this.#sinceMs > msMax
  }
}
