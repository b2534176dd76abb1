import type { Overseen } from "../deadlines.ts"

/** The client's side of a WebSocket. */
export type ClientSocket = Bun.ServerWebSocket<SocketRelay>

/** What the relay needs of whoever keeps all of them. */
export interface RelayKeeper {
  readonly streamMsMax: number
  readonly backlogBytesMax: number
  /** Whether there is room for what waits for all readers together, after it changed by so much. */
  hasRoom(bytesMore: number): boolean
  over(relay: SocketRelay): void
}

/** How a WebSocket ended. */
export type SocketEnd = "closed" | "broken" | "expired"

const codes = { goingAway: 1001, policy: 1008, broken: 1011 }
const reasonBytesMax = 123

/**
 * One WebSocket between a client and a val: passes messages on, and the end of either side to the
 * other.
 */
export class SocketRelay implements Overseen {
  readonly valId: string
  readonly #val: WebSocket
  readonly #keeper: RelayKeeper
  readonly #onEnd: (end: SocketEnd) => void
  readonly #startedMs = performance.now()
  #client: ClientSocket | undefined
  /** What the val said before the client was there to hear it. */
  #early: (string | ArrayBuffer)[] = []
  #earlyClose: { code: number; reason: string } | undefined
  #earlyBytes = 0
  #backlogBytes = 0
  #isOver = false

  constructor(valId: string, val: WebSocket, keeper: RelayKeeper, onEnd: (end: SocketEnd) => void) {
    this.valId = valId
    this.#val = val
    this.#keeper = keeper
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
    else if (this.#isOver) client.close(codes.goingAway)
  }

  clientSaid(message: string | Buffer<ArrayBuffer>): void {
    if (this.#isOver) return
    this.#val.send(message)
    this.#measure()
  }

  clientDrained(): void {
    if (!this.#isOver) this.#measure()
  }

  clientClosed(code: number, reason: string): void {
    if (this.#isOver) return
    this.#over("closed")
    closeVal(this.#val, code, reason)
  }

  /** Ends it from our side. */
  end(end: SocketEnd, code: number = codes.goingAway, reason = ""): void {
    if (this.#isOver) return
    this.#over(end)
    this.#client?.close(code, reason)
    closeVal(this.#val, code, reason)
  }

  check(nowMs: number): boolean {
    if (!this.#isOver && nowMs - this.#startedMs > this.#keeper.streamMsMax)
      this.end("expired", codes.goingAway, "time limit")
    return this.#isOver
  }

  #toClient(message: string | ArrayBuffer): void {
    if (this.#isOver) return
    if (this.#client) this.#client.send(message)
    else {
      this.#early.push(message)
      this.#earlyBytes += typeof message === "string" ? message.length : message.byteLength
    }
    this.#measure()
  }

  #valClosed(code: number, reason: string): void {
    if (this.#isOver) return
    if (!this.#client) {
      this.#earlyClose = { code, reason }
      return
    }
    const isBroken = code === 1006 || code === 1015
    this.#over(isBroken ? "broken" : "closed")
    if (isBroken) this.#client.close(codes.broken)
    else if (code === 1005) this.#client.close()
    else this.#client.close(code, reason)
  }

  /** Who reads more slowly than the other side writes would have us keep what is in between. */
  #measure(): void {
    const bytes =
      (this.#client ? this.#client.getBufferedAmount() : this.#earlyBytes) +
      this.#val.bufferedAmount
    if (bytes === 0 && this.#backlogBytes === 0) return
    const more = bytes - this.#backlogBytes
    this.#backlogBytes = bytes
    if (this.#keeper.hasRoom(more) && bytes <= this.#keeper.backlogBytesMax) return
    const client = this.#client
    this.end("closed", codes.policy, "reads too slowly")
    // The word of the end waits behind all the rest, which nobody reads.
    client?.terminate()
  }

  #over(end: SocketEnd): void {
    this.#isOver = true
    this.#early = []
    this.#keeper.hasRoom(-this.#backlogBytes)
    this.#keeper.over(this)
    this.#onEnd(end)
  }
}

/** Tells the val how the client ended it, in a code that may be sent. */
function closeVal(val: WebSocket, code: number, reason: string): void {
  try {
    if (code === 1005) val.close()
    else val.close(code === 1006 || code === 1015 ? codes.goingAway : code, cutReason(reason))
  } catch {
    val.close()
  }
}

function cutReason(reason: string): string {
  return Buffer.byteLength(reason) <= reasonBytesMax ? reason : ""
}
