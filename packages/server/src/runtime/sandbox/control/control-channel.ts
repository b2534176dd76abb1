import { rmSync } from "node:fs"
import type { GuestMessage, HostMessage } from "@hamlet/guest/protocol"
import type { Socket, UnixSocketListener } from "bun"
import { hasFewValues } from "../../../shared/has-few-values.ts"
import { TokenBucket } from "../../../shared/token-bucket.ts"
import type { SandboxLimits } from "../sandbox-limits.ts"
import type { ControlScheduler, ReadState } from "./control-scheduler.ts"
import { parseGuestMessage } from "./guest-message.ts"

type ControlLimits = Pick<
  SandboxLimits,
  | "controlLineBytesMax"
  | "controlBytesPerSecondMax"
  | "controlMessagesPerSecondMax"
  | "controlWaitingBytesMax"
>

/** Who listens to a guest. */
export interface ControlListener {
  onMessage(message: GuestMessage, bytes: number): void
  /** The guest broke the rules of the channel, as the sentence says. Nothing more is read. */
  onViolation(message: string): void
}

const newline = 10
/** A refusal has up to a thousand headers, each of three values; nothing else has more than ten. */
const lineValuesMax = 10_000
const nothing: Buffer = Buffer.alloc(0)

/**
 * The host's end of a sandbox's control socket. One guest may connect, once; then the socket file
 * is gone. Nothing is kept but what was read at once and is not heard yet, and the beginning of one
 * line, so a guest can fill its own memory but not ours.
 *
 * A guest is heard up to its limits, and as far as the turns that all guests share allow. Beyond
 * that the socket is not read: nothing of what the guest says is lost, but it has to wait, and the
 * guest with it.
 */
export class ControlChannel {
  /** The connection has ended, or there will never be one. */
  readonly closed: Promise<void>
  readonly #path: string
  readonly #limits: ControlLimits
  readonly #listener: ControlListener
  readonly #closed = Promise.withResolvers<void>()
  #server: UnixSocketListener<undefined> | undefined
  #socket: Socket<undefined> | undefined
  readonly #begun = new LineStart()
  readonly #turns: ControlScheduler
  /** The limits per second of bytes and of messages. */
  readonly #bytes: TokenBucket
  readonly #messages: TokenBucket
  /** Read, but not heard yet. The socket is paused while there is something. */
  #unheard: Buffer = nothing
  #isLast = false
  /** Sent, but not yet taken by the kernel. */
  #unsent: Buffer = nothing
  #isOver = false

  constructor(
    path: string,
    limits: ControlLimits,
    listener: ControlListener,
    turns: ControlScheduler,
  ) {
    this.#path = path
    this.#turns = turns
    this.#limits = limits
    this.#listener = listener
    const nowMs = performance.now()
    this.#bytes = new TokenBucket(limits.controlBytesPerSecondMax, 1000, nowMs)
    this.#messages = new TokenBucket(limits.controlMessagesPerSecondMax, 1000, nowMs)
    this.closed = this.#closed.promise
    this.#server = Bun.listen<undefined>({
      unix: path,
      socket: {
        open: (socket) => this.#accept(socket),
        data: (socket, chunk) => (socket === this.#socket ? this.#read(chunk) : undefined),
        drain: (socket) => (socket === this.#socket ? this.#flush() : undefined),
        close: (socket) => (socket === this.#socket ? this.stop() : undefined),
        error: (socket) => (socket === this.#socket ? this.stop() : undefined),
      },
    })
  }

  /** Whether there may be something to read yet. */
  get isOpen(): boolean {
    return this.#socket !== undefined
  }

  /** Before the guest has connected and after it has gone, there is nobody to hear it. */
  send(message: HostMessage): void {
    if (!this.#socket || this.#isOver) return
    const line = Buffer.from(`${JSON.stringify(message)}\n`)
    if (this.#unsent.length + line.length > this.#limits.controlWaitingBytesMax) {
      this.#refuse(
        `it left more than ${this.#limits.controlWaitingBytesMax} bytes of control messages unread`,
      )
      return
    }
    this.#unsent = this.#unsent.length === 0 ? line : Buffer.concat([this.#unsent, line])
    this.#flush()
  }

  /**
   * The guest has ended: what it said last is heard without limits, since there is no more than the
   * kernel holds.
   */
  liftLimits(): void {
    this.#isLast = true
  }

  /** For the turns. */
  readMore(messagesMax: number): ReadState {
    this.#unheard = this.#hearSome(this.#unheard, messagesMax)
    if (this.#unheard.length > 0) return this.#hasAllowance() ? "more" : "limited"
    this.#socket?.resume()
    return "done"
  }

  stop(): void {
    if (this.#isOver && !this.#server && !this.#socket) return
    this.#isOver = true
    this.#closeServer()
    const socket = this.#socket
    this.#socket = undefined
    socket?.terminate()
    this.#begun.take()
    this.#unsent = nothing
    this.#unheard = nothing
    this.#turns.delete(this)
    this.#closed.resolve()
  }

  #accept(socket: Socket<undefined>): void {
    if (this.#socket || this.#isOver) {
      socket.terminate()
      return
    }
    this.#socket = socket
    this.#closeServer()
  }

  #closeServer(): void {
    this.#server?.stop(false)
    this.#server = undefined
    rmSync(this.#path, { force: true })
  }

  #flush(): void {
    if (this.#unsent.length === 0 || !this.#socket) return
    const written = this.#socket.write(this.#unsent)
    if (written > 0) this.#unsent = this.#unsent.subarray(written)
  }

  #read(chunk: Buffer): void {
    if (this.#isOver) return
    if (this.#unheard.length > 0) this.#unheard = Buffer.concat([this.#unheard, chunk])
    else
      this.#turns.read((messagesMax) => {
        // A copy, since the chunk belongs to the socket.
        this.#unheard = Buffer.from(this.#hearSome(chunk, messagesMax))
      })
    if (this.#unheard.length === 0 || this.#isOver) return
    this.#socket?.pause()
    this.#turns.add(this)
  }

  /** Gives what is beyond the limits, and stays unheard. */
  #hearSome(chunk: Buffer, messagesMax: number): Buffer {
    const nowMs = performance.now()
    this.#bytes.refill(nowMs)
    this.#messages.refill(nowMs)
    let from = 0
    let heard = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      if (heard >= messagesMax || !this.#takeAllowance(end + 1 - from)) return chunk.subarray(from)
      const line = this.#completeLine(chunk.subarray(from, end))
      from = end + 1
      if (line === undefined) return nothing
      this.#hear(line)
      heard++
      if (this.#isOver) return nothing
    }
    if (from === chunk.length) return nothing
    this.#bytes.charge(chunk.length - from)
    this.#begun.add(chunk.subarray(from))
    if (this.#begun.bytes > this.#limits.controlLineBytesMax) this.#refuseLongLine()
    return nothing
  }

  #completeLine(end: Buffer): Buffer | undefined {
    if (this.#begun.bytes + end.length > this.#limits.controlLineBytesMax) {
      this.#refuseLongLine()
      return undefined
    }
    if (this.#begun.bytes === 0) return end
    this.#begun.add(end)
    return this.#begun.take()
  }

  #hear(line: Buffer): void {
    // A guest's messages have few fields. Of small values there could be so many in a line that
    // reading it would keep everybody waiting.
    const message = hasFewValues(line, lineValuesMax)
      ? parseGuestMessage(line.toString("utf8"))
      : undefined
    if (message) this.#listener.onMessage(message, line.length)
    else this.#refuse("it wrote something to the control socket that is no message")
  }

  /** Whether a message that ends with so many bytes may be heard now. */
  #takeAllowance(bytes: number): boolean {
    if (!this.#hasAllowance()) return false
    this.#bytes.charge(bytes)
    this.#messages.charge(1)
    return true
  }

  #hasAllowance(): boolean {
    return this.#isLast || (this.#bytes.hasToken && this.#messages.hasToken)
  }

  #refuseLongLine(): void {
    this.#refuse(`it sent a control message of more than ${this.#limits.controlLineBytesMax} bytes`)
  }

  #refuse(message: string): void {
    this.stop()
    this.#listener.onViolation(message)
  }
}

/**
 * The beginning of a line whose end has not come yet: one buffer that doubles, since the parts may
 * be of one byte each.
 */
class LineStart {
  #buffer: Buffer = nothing
  bytes = 0

  add(part: Buffer): void {
    const bytes = this.bytes + part.length
    if (bytes > this.#buffer.length) {
      const larger = Buffer.alloc(Math.max(bytes, this.#buffer.length * 2))
      this.#buffer.copy(larger, 0, 0, this.bytes)
      this.#buffer = larger
    }
    part.copy(this.#buffer, this.bytes)
    this.bytes = bytes
  }

  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.bytes)
    this.#buffer = nothing
    this.bytes = 0
    return taken
  }
}
