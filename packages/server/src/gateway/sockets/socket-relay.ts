import type { Watched } from "@hamlet/kit"
import type { GatewayLimits } from "../limits.ts"
import type { BacklogHolder } from "./backlogs.ts"
import { MessageQueue, type SocketMessage } from "./message-queue.ts"
import { UnreadBytes } from "./unread-bytes.ts"

/** The client's side of a WebSocket. */
export type ClientSocket = Bun.ServerWebSocket<SocketRelay>

/** The val's side of a WebSocket. */
type ValSocket = WebSocket & { terminate(): void }

/** The limits and counters that all relays share. */
export interface RelayRegistry {
  readonly limits: GatewayLimits
  /** Notes the unread bytes of a relay. May cut it, or another one. */
  noteBacklog(relay: SocketRelay, bytes: number): void
  remove(relay: SocketRelay): void
}

/** How a WebSocket ended. */
export type SocketEnd = "closed" | "broken" | "expired"

/** A side has closed its WebSocket. */
interface Close {
  readonly by: "client" | "val"
  readonly code: number
  readonly reason: string
}

const codes = { goingAway: 1001, policy: 1008, broken: 1011 }
const reasonBytesMax = 123

/**
 * One WebSocket between a client and a val: forwards messages and closes in both directions. A close
 * waits until the other side has read what was sent before: otherwise these bytes would stay in memory
 * and no limit would count them.
 */
export class SocketRelay implements Watched, BacklogHolder {
  readonly accountId: string
  readonly #val: ValSocket
  readonly #registry: RelayRegistry
  readonly #onEnd: (end: SocketEnd) => void
  readonly #startedMs = performance.now()
  readonly #ofClient = new UnreadBytes()
  readonly #ofVal = new UnreadBytes()
  #client: ClientSocket | undefined
  readonly #toVal: MessageQueue
  /** Messages that the val sends before the client's side is open wait in it. */
  readonly #toClient: MessageQueue
  #backlogBytes = 0
  /** Set while the other side has not read everything. */
  #close: Close | undefined
  #isFinished = false

  constructor(
    accountId: string,
    val: WebSocket,
    registry: RelayRegistry,
    onEnd: (end: SocketEnd) => void,
  ) {
    this.accountId = accountId
    this.#val = val as ValSocket
    this.#registry = registry
    this.#onEnd = onEnd
    const allSent = () => {
      this.#measure()
      this.#forwardClose()
    }
    const sendToVal = (message: SocketMessage) => val.send(message)
    const sendToClient = (message: SocketMessage) => void this.#client?.send(message)
    const limits = { ...registry.limits, owner: accountId }
    this.#toVal = new MessageQueue(limits, { send: sendToVal, allSent }, true)
    this.#toClient = new MessageQueue(limits, { send: sendToClient, allSent }, false)
    val.binaryType = "arraybuffer"
    val.addEventListener("message", (event) => this.#valSent(event.data as string | ArrayBuffer))
    val.addEventListener("close", ({ code, reason }) =>
      this.#closeAfter({ by: "val", code, reason }),
    )
  }

  clientOpened(client: ClientSocket): void {
    if (this.#isFinished) {
      client.close(codes.goingAway)
      return
    }
    this.#client = client
    this.#toClient.open()
    this.#measure()
    this.#forwardClose()
  }

  clientSent(message: string | Buffer<ArrayBuffer>): void {
    if (this.#isFinished || this.#close) return
    this.#observe()
    this.#toVal.push(message)
    this.#measure()
  }

  clientDrained(): void {
    this.#observe()
    this.#measure()
    this.#forwardClose()
  }

  clientClosed(code: number, reason: string): void {
    this.#closeAfter({ by: "client", code, reason })
  }

  /** Closes both sides at once. Unread messages are lost. */
  end(end: SocketEnd, code: number = codes.goingAway, reason = ""): void {
    if (this.#isFinished) return
    const client = this.#client
    const [isUnread, isUnreadByVal] = [this.#countOfClient() > 0, this.#countOfVal() > 0]
    this.#finish(end)
    // A close frame would wait behind the unread messages.
    if (isUnread) client?.terminate()
    else client?.close(code, reason)
    if (isUnreadByVal) this.#val.terminate()
    else closeVal(this.#val, code, reason)
  }

  cut(): void {
    const isFlood = this.#toVal.waitingBytes > 0 || this.#toClient.waitingBytes > 0
    this.end("closed", codes.policy, isFlood ? "too many messages" : "reads too slowly")
  }

  check(nowMs: number): boolean {
    if (this.#isFinished) return true
    const { streamMsMax, stalledMsMax } = this.#registry.limits
    this.#observe(nowMs)
    this.#measure()
    this.#forwardClose()
    if (nowMs - this.#startedMs > streamMsMax) this.end("expired", codes.goingAway, "time limit")
    else if (
      this.#ofClient.isStalled(nowMs, stalledMsMax) ||
      this.#ofVal.isStalled(nowMs, stalledMsMax)
    )
      this.cut()
    return this.#isFinished
  }

  #valSent(message: string | ArrayBuffer): void {
    if (this.#isFinished || this.#close) return
    this.#observe()
    this.#toClient.push(message)
    this.#measure()
  }

  #closeAfter(close: Close): void {
    if (this.#isFinished || this.#close?.by === close.by) return
    const before = this.#close
    this.#close = before ?? close
    // Both sides have closed it: nothing more is read.
    if (before) this.#finish(toEnd(before))
    else this.#forwardClose()
  }

  /** Forwards the close when the other side has read everything. */
  #forwardClose(): void {
    const close = this.#close
    if (!close || this.#isFinished) return
    const { code, reason } = close
    const end = toEnd(close)
    if (close.by === "client") {
      if (this.#countOfVal() > 0) return
      this.#finish(end)
      closeVal(this.#val, code, reason)
    } else if (this.#client && this.#countOfClient() === 0) {
      this.#finish(end)
      if (end === "broken") this.#client.close(codes.broken)
      else if (code === 1005) this.#client.close()
      else this.#client.close(code, reason)
    }
  }

  /** The bytes that the client has not read. A side that has closed the WebSocket reads nothing. */
  #countOfClient(): number {
    if (this.#close?.by === "client") return 0
    return (this.#client?.getBufferedAmount() ?? 0) + this.#toClient.waitingBytes
  }

  /** The bytes that the val has not read. A side that has closed the WebSocket reads nothing. */
  #countOfVal(): number {
    if (this.#close?.by === "val") return 0
    return this.#val.bufferedAmount + this.#toVal.waitingBytes
  }

  /** Call before a message is sent. */
  #observe(nowMs = performance.now()): void {
    this.#ofClient.observe(this.#countOfClient(), nowMs)
    this.#ofVal.observe(this.#countOfVal(), nowMs)
  }

  /** Call after a message was sent. */
  #measure(): void {
    if (this.#isFinished) return
    this.#ofClient.noteSent(this.#countOfClient())
    this.#ofVal.noteSent(this.#countOfVal())
    const bytes = this.#ofClient.bytes + this.#ofVal.bytes
    if (bytes === this.#backlogBytes) return
    this.#backlogBytes = bytes
    this.#registry.noteBacklog(this, bytes)
  }

  #finish(end: SocketEnd): void {
    this.#isFinished = true
    this.#toVal.stop()
    this.#toClient.stop()
    this.#registry.noteBacklog(this, 0)
    this.#registry.remove(this)
    this.#onEnd(end)
  }
}

function toEnd({ by, code }: Close): SocketEnd {
  return by === "val" && (code === 1006 || code === 1015) ? "broken" : "closed"
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
