import { rmSync } from "node:fs"
import type { GuestMessage, HostMessage } from "@hamlet/guest/protocol"
import type { Socket, UnixSocketListener } from "bun"
import { parseGuestMessage } from "./guest-message.ts"
import type { SandboxLimits } from "./sandbox-limits.ts"

type ControlLimits = Pick<SandboxLimits, "controlLineBytesMax" | "controlBytesPerSecondMax" | "controlWaitingBytesMax">

/** Who listens to a guest. */
export interface ControlListener {
  hear(message: GuestMessage, bytes: number): void
  /** The guest broke the rules of the channel, as the sentence says. Nothing more is read. */
  refuse(message: string): void
}

const newline = 10

/**
 * The host's end of a sandbox's control socket. One guest may connect, once; then the socket file is gone. Everything is handled as it is
 * read and nothing is kept but the beginning of one line, so a guest can fill its own memory but not ours.
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
  #allowance: number
  #allowanceAtMs = performance.now()
  /** Sent, but not yet taken by the kernel. */
  #unsent: Buffer = Buffer.alloc(0)
  #isOver = false

  constructor(path: string, limits: ControlLimits, listener: ControlListener) {
    this.#path = path
    this.#limits = limits
    this.#listener = listener
    this.#allowance = limits.controlBytesPerSecondMax
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
      this.#refuse(`it left more than ${this.#limits.controlWaitingBytesMax} bytes of control messages unread`)
      return
    }
    this.#unsent = this.#unsent.length === 0 ? line : Buffer.concat([this.#unsent, line])
    this.#flush()
  }

  stop(): void {
    if (this.#isOver && !this.#server && !this.#socket) return
    this.#isOver = true
    this.#closeServer()
    const socket = this.#socket
    this.#socket = undefined
    socket?.terminate()
    this.#begun.take()
    this.#unsent = Buffer.alloc(0)
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
    if (this.#isOver || !this.#takeAllowance(chunk.length)) return
    let from = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      const line = this.#completeLine(chunk.subarray(from, end))
      from = end + 1
      if (line === undefined) return
      this.#hear(line)
      if (this.#isOver) return
    }
    if (from === chunk.length) return
    this.#begun.add(chunk.subarray(from))
    if (this.#begun.bytes > this.#limits.controlLineBytesMax) this.#refuseLongLine()
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
    const message = parseGuestMessage(line.toString("utf8"))
    if (message) this.#listener.hear(message, line.length)
    else this.#refuse("it wrote something to the control socket that is no message")
  }

  /** A bucket that holds what may be said in one second, and fills up at that rate. */
  #takeAllowance(bytes: number): boolean {
    const { controlBytesPerSecondMax } = this.#limits
    const nowMs = performance.now()
    const gained = ((nowMs - this.#allowanceAtMs) / 1000) * controlBytesPerSecondMax
    this.#allowance = Math.min(controlBytesPerSecondMax, this.#allowance + gained) - bytes
    this.#allowanceAtMs = nowMs
    if (this.#allowance >= 0) return true
    this.#refuse(`it logged more than ${controlBytesPerSecondMax} bytes in a second`)
    return false
  }

  #refuseLongLine(): void {
    this.#refuse(`it sent a control message of more than ${this.#limits.controlLineBytesMax} bytes`)
  }

  #refuse(message: string): void {
    this.stop()
    this.#listener.refuse(message)
  }
}

/** The beginning of a line whose end has not come yet: one buffer that doubles, since the parts may be of one byte each. */
class LineStart {
  #buffer: Buffer = Buffer.alloc(0)
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
    this.#buffer = Buffer.alloc(0)
    this.bytes = 0
    return taken
  }
}
