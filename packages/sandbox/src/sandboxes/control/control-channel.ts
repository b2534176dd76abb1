import { rmSync } from "node:fs"
import { constants, open } from "node:fs/promises"
import type { GuestMessage, HostMessage } from "@hamlet/guest/protocol"
import { hasFewValues, TokenBucket, toOwnJson } from "@hamlet/kit"
import type { Socket, UnixSocketListener } from "bun"
import type { SandboxLimits } from "../sandbox-limits.ts"
import type { ControlScheduler, ReadState } from "./control-scheduler.ts"
import { parseGuestMessage } from "./guest-message.ts"

/** Receives what a guest sends. */
export interface ControlListener {
  onMessage(message: GuestMessage, bytes: number): void
  /** The guest has violated the protocol, as the message says. Nothing more is read. */
  onViolation(message: string): void
}

const newline = 10
/** A refused WebSocket has up to 1,000 headers of three values; other messages have up to ten. */
const lineValuesMax = 10_000
/** The messages of a file that are processed before others get their turn. */
const unsentPerTurn = 128
const empty: Buffer = Buffer.alloc(0)

/**
 * The host's end of a sandbox's control socket. One guest may connect, once; then the socket file
 * is removed. The channel keeps one unprocessed chunk and the start of one line, so that a guest
 * can fill its own memory but not the server's.
 *
 * It processes messages up to the limits of the guest, and as long as the scheduler that all guests
 * share allows. Beyond that it does not read the socket: no message is lost, but the guest waits.
 */
export class ControlChannel {
  /** The connection has ended, or there will never be one. */
  readonly closed: Promise<void>
  readonly #path: string
  readonly #limits: SandboxLimits
  readonly #listener: ControlListener
  readonly #closed = Promise.withResolvers<void>()
  #server: UnixSocketListener<undefined> | undefined
  #socket: Socket<undefined> | undefined
  readonly #lineStart = new LineStart()
  readonly #scheduler: ControlScheduler
  /** The limits per second of bytes and of messages. */
  readonly #bytes: TokenBucket
  readonly #messages: TokenBucket
  /** Read, but not processed yet. The socket is paused while this is not empty. */
  #unprocessed: Buffer = empty
  #isUnlimited = false
  /** The messages so far. */
  #received = 0
  /** Not yet accepted by the kernel. */
  #unsent: Buffer = empty
  #isOver = false

  constructor(
    path: string,
    limits: SandboxLimits,
    listener: ControlListener,
    scheduler: ControlScheduler,
  ) {
    this.#path = path
    this.#scheduler = scheduler
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

  /** Whether more messages may arrive. */
  get isOpen(): boolean {
    return this.#socket !== undefined
  }

  /** Does nothing before the guest has connected and after it has disconnected. */
  send(message: HostMessage): void {
    if (!this.#socket || this.#isOver) return
    const line = Buffer.from(`${toOwnJson(message)}\n`)
    if (this.#unsent.length + line.length > this.#limits.controlWaitingBytesMax) {
      this.#fail(
        `it left more than ${this.#limits.controlWaitingBytesMax} bytes of control messages unread`,
      )
      return
    }
    this.#unsent = this.#unsent.length === 0 ? line : Buffer.concat([this.#unsent, line])
    this.#flush()
  }

  /**
   * Processes the rest without limits. For a guest that has ended: there is no more than the kernel
   * has buffered.
   */
  liftLimits(): void {
    this.#isUnlimited = true
  }

  /**
   * Processes the messages that an ended guest could not send, from its file. The guest may have
   * written anything: the first line that is not a message ends it.
   */
  async receiveUnsent(path: string): Promise<void> {
    const file = await readUnsent(path, this.#limits.controlUnsentBytesMax)
    let from = file.indexOf(newline) + 1
    let number = Number(file.toString("latin1", 0, from))
    if (!Number.isSafeInteger(number) || number < 1) return
    for (let end = file.indexOf(newline, from); end !== -1; end = file.indexOf(newline, from)) {
      const line = file.subarray(from, end)
      from = end + 1
      if (number++ <= this.#received) continue
      const message = parseLine(line)
      if (!message) return
      this.#received++
      this.#listener.onMessage(message, line.length)
      if (this.#received % unsentPerTurn === 0) await Bun.sleep(0)
    }
  }

  /** Called by the scheduler. */
  readMore(messagesMax: number): ReadState {
    this.#unprocessed = this.#process(this.#unprocessed, messagesMax)
    if (this.#unprocessed.length > 0) return this.#hasAllowance() ? "more" : "limited"
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
    this.#lineStart.take()
    this.#unsent = empty
    this.#unprocessed = empty
    this.#scheduler.delete(this)
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
    if (this.#unprocessed.length > 0) this.#unprocessed = Buffer.concat([this.#unprocessed, chunk])
    else
      this.#scheduler.read((messagesMax) => {
        // A copy, since the chunk belongs to the socket.
        this.#unprocessed = Buffer.from(this.#process(chunk, messagesMax))
      })
    if (this.#unprocessed.length === 0 || this.#isOver) return
    this.#socket?.pause()
    this.#scheduler.add(this)
  }

  /** Returns what is beyond the limits and stays unprocessed. */
  #process(chunk: Buffer, messagesMax: number): Buffer {
    const nowMs = performance.now()
    this.#bytes.refill(nowMs)
    this.#messages.refill(nowMs)
    let from = 0
    let processed = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      if (processed >= messagesMax || !this.#takeAllowance(end + 1 - from))
        return chunk.subarray(from)
      const line = this.#completeLine(chunk.subarray(from, end))
      from = end + 1
      if (line === undefined) return empty
      this.#receive(line)
      processed++
      if (this.#isOver) return empty
    }
    if (from === chunk.length) return empty
    this.#bytes.charge(chunk.length - from)
    this.#lineStart.add(chunk.subarray(from))
    if (this.#lineStart.bytes > this.#limits.controlLineBytesMax) this.#failLongLine()
    return empty
  }

  #completeLine(end: Buffer): Buffer | undefined {
    if (this.#lineStart.bytes + end.length > this.#limits.controlLineBytesMax) {
      this.#failLongLine()
      return undefined
    }
    if (this.#lineStart.bytes === 0) return end
    this.#lineStart.add(end)
    return this.#lineStart.take()
  }

  #receive(line: Buffer): void {
    const message = parseLine(line)
    this.#received++
    if (message) this.#listener.onMessage(message, line.length)
    else this.#fail("it sent an invalid control message")
  }

  /** Whether a message of that many bytes may be processed now. */
  #takeAllowance(bytes: number): boolean {
    if (!this.#hasAllowance()) return false
    this.#bytes.charge(bytes)
    this.#messages.charge(1)
    return true
  }

  #hasAllowance(): boolean {
    return this.#isUnlimited || (this.#bytes.hasToken && this.#messages.hasToken)
  }

  #failLongLine(): void {
    this.#fail(`it sent a control message of more than ${this.#limits.controlLineBytesMax} bytes`)
  }

  #fail(message: string): void {
    this.stop()
    this.#listener.onViolation(message)
  }
}

/**
 * Reads the file with the messages that a guest could not send, up to a limit. Empty if there is
 * none, or the guest has put something else in its place.
 */
export async function readUnsent(path: string, bytesMax: number): Promise<Buffer> {
  try {
    await using file = await open(
      path,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    )
    const { size } = await file.stat()
    const buffer = Buffer.alloc(Math.min(size, bytesMax))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    return buffer.subarray(0, bytesRead)
  } catch {
    // The file was never created: the process ended before.
    return Buffer.alloc(0)
  }
}

/** A line could hold so many small values that parsing it would block the thread. */
function parseLine(line: Buffer): GuestMessage | undefined {
  return hasFewValues(line, lineValuesMax) ? parseGuestMessage(line.toString("utf8")) : undefined
}

/**
 * The start of a line whose end has not arrived yet. One buffer that doubles, because the parts may
 * be of one byte each.
 */
class LineStart {
  #buffer: Buffer = empty
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
    this.#buffer = empty
    this.bytes = 0
    return taken
  }
}
