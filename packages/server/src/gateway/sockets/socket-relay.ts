import type { Expirable } from "../deadlines.ts"

/** The client's side of a WebSocket. */
export type ClientSocket = Bun.ServerWebSocket<SocketRelay>

/** The limits and counters that all relays share. */
export interface RelayRegistry {
  readonly streamMsMax: number
  readonly backlogBytesMax: number
  /** Adds to the unread bytes of all relays; false when they exceed the limit. */
  addBacklog(bytes: number): boolean
  remove(relay: SocketRelay): void
}

/** How a WebSocket ended. */
export type SocketEnd = "closed" | "broken" | "expired"

const codes = { goingAway: 1001, policy: 1008, broken: 1011 }
const reasonBytesMax = 123

/** One WebSocket between a client and a val: forwards messages and closes in both directions. */
export class SocketRelay implements Expirable {
  readonly #val: WebSocket
  readonly #registry: RelayRegistry
  readonly #onEnd: (end: SocketEnd) => void
  readonly #startedMs = performance.now()
  #client: ClientSocket | undefined
  /** Messages that the val sent before the client's side was open. */
  #early: (string | ArrayBuffer)[] = []
  #earlyClose: { code: number; reason: string } | undefined
  #earlyBytes = 0
  #backlogBytes = 0
  #isFinished = false

  constructor(val: WebSocket, registry: RelayRegistry, onEnd: (end: SocketEnd) => void) {
    this.#val = val
    this.#registry = registry
    this.#onEnd = onEnd
    val.binaryType = "arraybuffer"
    val.addEventListener("message", (event) => this.#toClient(event.data as string | ArrayBuffer))
    val.addEventListener("close", (event) => this.#valClosed(event.code, event.reason))
  }

  clientOpened(client: ClientSocket): void {
    this.#client = client
    for (const message of this.#early) this.#toClient(message)
    this.#early = []
    if (this.#earlyClose) this.#valClosed(this.#earlyClose.code, this.#earlyClose.reason)
    else if (this.#isFinished) client.close(codes.goingAway)
  }

  clientSent(message: string | Buffer<ArrayBuffer>): void {
    if (this.#isFinished) return
    this.#val.send(message)
    this.#measure()
  }

  clientDrained(): void {
    if (!this.#isFinished) this.#measure()
  }

  clientClosed(code: number, reason: string): void {
    if (this.#isFinished) return
    this.#finish("closed")
    closeVal(this.#val, code, reason)
  }

  /** Closes both sides. */
  end(end: SocketEnd, code: number = codes.goingAway, reason = ""): void {
    if (this.#isFinished) return
    this.#finish(end)
    this.#client?.close(code, reason)
    closeVal(this.#val, code, reason)
  }

  check(nowMs: number): boolean {
    if (!this.#isFinished && nowMs - this.#startedMs > this.#registry.streamMsMax)
      this.end("expired", codes.goingAway, "time limit")
    return this.#isFinished
  }

  #toClient(message: string | ArrayBuffer): void {
    if (this.#isFinished) return
    if (this.#client) this.#client.send(message)
    else {
      this.#early.push(message)
      this.#earlyBytes += typeof message === "string" ? message.length : message.byteLength
    }
    this.#measure()
  }

  #valClosed(code: number, reason: string): void {
    if (this.#isFinished) return
    if (!this.#client) {
      this.#earlyClose = { code, reason }
      return
    }
    const isBroken = code === 1006 || code === 1015
    this.#finish(isBroken ? "broken" : "closed")
    if (isBroken) this.#client.close(codes.broken)
    else if (code === 1005) this.#client.close()
    else this.#client.close(code, reason)
  }

  /** Closes the socket when a slow reader leaves too many bytes in memory. */
  #measure(): void {
    const bytes =
      (this.#client ? this.#client.getBufferedAmount() : this.#earlyBytes) +
      this.#val.bufferedAmount
    if (bytes === 0 && this.#backlogBytes === 0) return
    const more = bytes - this.#backlogBytes
    this.#backlogBytes = bytes
    if (this.#registry.addBacklog(more) && bytes <= this.#registry.backlogBytesMax) return
    const client = this.#client
    this.end("closed", codes.policy, "reads too slowly")
    // The close frame would wait behind the unread messages.
    client?.terminate()
  }

  #finish(end: SocketEnd): void {
    this.#isFinished = true
    this.#early = []
    this.#registry.addBacklog(-this.#backlogBytes)
    this.#registry.remove(this)
    this.#onEnd(end)
  }
}

/** Forwards the client's close code to the val; 1005, 1006 and 1015 must not be sent. */
function closeVal(val: WebSocket, code: number, reason: string): void {
  try {
    if (code === 1005) val.close()
    else val.close(code === 1006 || code === 1015 ? codes.goingAway : code, toReason(reason))
  } catch {
    val.close()
  }
}

function toReason(reason: string): string {
  return Buffer.byteLength(reason) <= reasonBytesMax ? reason : ""
}
