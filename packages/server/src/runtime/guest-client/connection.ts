import type { ResponseHead } from "../http1/response-head.ts"
import { ResponseReader, type ResponseSink } from "../http1/response-reader.ts"
import { sendSoon } from "../http1/send-queue.ts"
import { hasNoBody } from "../http1/write-request.ts"
import { BodySender, type BodyTarget } from "./body-sender.ts"
import type { ClientLimits } from "./client-limits.ts"
import type { Exchange, GuestFailure } from "./exchange.ts"
import { type GuestRequestHead, toRequestHead } from "./request-head.ts"
import { type BodySource, ResponseBody } from "./response-body.ts"

/** The client that a connection belongs to. */
export interface ConnectionOwner {
  readonly limits: ClientLimits
  /** The exchange is over, and the connection can take another one. */
  release(connection: Connection): void
  /** The connection is closed. */
  remove(connection: Connection): void
  /** The process has closed a reused connection before it responded: send the request again. */
  repeat(exchange: Exchange): void
}

/** Requests are assembled here. The socket nearly always takes all of it at once. */
const scratch = Buffer.allocUnsafeSlow(65_536)

/** One connection to a process: one request at a time, and none after anything unexpected. */
export class Connection implements ResponseSink, BodyTarget, BodySource {
  readonly #owner: ConnectionOwner
  readonly #reader: ResponseReader
  #socket: Bun.Socket<Connection> | undefined
  #exchange: Exchange | undefined
  #body: ResponseBody | undefined
  #sender: BodySender | undefined
  /** Bytes that the socket has not taken yet. */
  #unsent: Uint8Array | undefined
  #onDrain: (() => void) | undefined
  #hasSent = false
  #hasReceived = false
  #isPaused = false
  #isClosed = false
  /** How many exchanges it has carried. */
  #uses = 0
  idleSinceMs = 0

  constructor(path: string, owner: ConnectionOwner) {
    this.#owner = owner
    this.#reader = new ResponseReader(owner.limits, this)
    Bun.connect<Connection>({ unix: path, data: this, socket: handlers }).catch((error: Error) =>
      this.closed(error),
    )
  }

  /** Sends a request. The connection must not have another one. */
  begin(exchange: Exchange): void {
    exchange.connection = this
    this.#exchange = exchange
    this.#uses++
    this.#hasSent = this.#hasReceived = false
    this.#reader.begin(exchange.request.method)
    if (this.#socket) sendSoon(this)
  }

  /** The exchange may have been aborted in the same turn of the event loop. */
  sendNow(): void {
    if (this.#exchange) this.#send(this.#exchange)
  }

  opened(socket: Bun.Socket<Connection>): void {
    this.#socket = socket
    if (this.#isClosed) socket.terminate()
    else this.sendNow()
  }

  receive(bytes: Buffer): void {
    this.#hasReceived = true
    if (this.#exchange) this.#reader.push(bytes)
    // Bytes without a request could be taken for the response to the next one.
    else this.stop()
  }

  drain(): void {
    const unsent = this.#unsent
    this.#unsent = undefined
    if (unsent && !this.write(unsent)) return
    const onDrain = this.#onDrain
    this.#onDrain = undefined
    onDrain?.()
  }

  closed(error: Error | undefined): void {
    if (this.#isClosed) return
    const exchange = this.#exchange
    if (exchange && this.#mayRepeat(exchange)) {
      this.#detach()
      this.stop()
      exchange.connection = undefined
      this.#owner.repeat(exchange)
      return
    }
    if (exchange && !this.#hasReceived)
      this.break("closed", "the connection was closed before the response")
    else this.#reader.close(error !== undefined)
    this.stop()
  }

  write(bytes: Uint8Array): boolean {
    const count = this.#socket?.write(bytes) ?? 0
    if (count >= bytes.length) return true
    this.#unsent = bytes.subarray(Math.max(0, count))
    return false
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#unsent === undefined || this.#isClosed) resolve()
      else this.#onDrain = resolve
    })
  }

  onHead({ status, headers }: ResponseHead, body: Uint8Array | null | undefined): void {
    if (body === undefined) this.#body = new ResponseBody(this, this.#owner.limits.aheadBytesMax)
    this.#exchange?.respond({
      status,
      headers,
      body: body === undefined ? (this.#body?.stream ?? null) : body,
    })
  }

  onPart(bytes: Uint8Array): void {
    this.#body?.add(bytes)
  }

  onEnd(isClean: boolean): void {
    const exchange = this.#exchange
    const body = this.#body
    // The rest of a request that was not sent completely would precede the next one.
    const isReusable = isClean && this.#hasSent && this.#unsent === undefined
    this.#detach()
    exchange?.end()
    if (isReusable) {
      this.resume()
      this.#owner.release(this)
    } else this.stop()
    body?.end()
  }

  onBroken(reason: string, isClosed: boolean): void {
    this.break(isClosed ? "closed" : "invalid", reason)
  }

  pause(): void {
    if (this.#isPaused || this.#isClosed) return
    this.#isPaused = true
    this.#socket?.pause()
  }

  resume(): void {
    if (!this.#isPaused || this.#isClosed) return
    this.#isPaused = false
    this.#socket?.resume()
  }

  /** The reader of the response has cancelled it. */
  cancel(): void {
    this.break("aborted", "the response was cancelled")
  }

  /** Ends the exchange with a failure, and the connection. */
  break(kind: GuestFailure["kind"], message: string): void {
    const exchange = this.#exchange
    const body = this.#body
    this.#detach()
    this.stop()
    exchange?.fail(kind, message)
    body?.fail(message)
  }

  stop(): void {
    if (this.#isClosed) return
    if (this.#exchange) {
      this.break("closed", "the process has ended")
      return
    }
    this.#isClosed = true
    this.#socket?.terminate()
    this.#reader.stop()
    this.#unsent = undefined
    this.#onDrain?.()
    this.#owner.remove(this)
  }

  #send(exchange: Exchange): void {
    const { body } = exchange.request
    const head = toRequestHead(exchange.request)
    if (!head) {
      this.break("unsendable", "it contains a character that cannot be sent")
      return
    }
    this.#write(head.text, body instanceof Uint8Array ? body : undefined)
    if (body === null || body instanceof Uint8Array) this.#hasSent = true
    else void this.#sendStream(exchange, body, head)
  }

  #write(head: string, body: Uint8Array | undefined): void {
    const bytes = head.length + (body?.length ?? 0)
    const target = bytes <= scratch.length ? scratch : Buffer.allocUnsafeSlow(bytes)
    target.write(head, "latin1")
    if (body) target.set(body, head.length)
    const count = this.#socket?.write(target, 0, bytes) ?? 0
    // The scratch is reused at once. A Buffer's own `slice` would not copy.
    if (count < bytes) this.#unsent = new Uint8Array(target.subarray(Math.max(0, count), bytes))
  }

  async #sendStream(
    exchange: Exchange,
    body: ReadableStream<Uint8Array>,
    { length }: GuestRequestHead,
  ): Promise<void> {
    try {
      const sender = new BodySender(body, this)
      this.#sender = sender
      await this.drained()
      await sender.send(length)
      if (this.#exchange === exchange) this.#hasSent = true
    } catch (error) {
      if (this.#exchange === exchange)
        this.break(
          "body",
          `the request body failed: ${error instanceof Error ? error.message : String(error)}`,
        )
    }
  }

  #detach(): void {
    this.#sender?.stop()
    this.#sender = undefined
    this.#exchange = undefined
    this.#body = undefined
  }

  /**
   * Whether the connection was probably closed while it was idle. It is safe to send a request twice
   * only if it changes nothing and has no body. The second connection is new, so there is no third
   * attempt.
   */
  #mayRepeat({ request }: Exchange): boolean {
    return (
      this.#uses > 1 && !this.#hasReceived && hasNoBody(request.method) && request.body === null
    )
  }
}

const handlers: Bun.SocketHandler<Connection, "buffer"> = {
  binaryType: "buffer",
  open: (socket) => socket.data.opened(socket),
  data: (socket, bytes) => socket.data.receive(bytes),
  drain: (socket) => socket.data.drain(),
  close: (socket, error) => socket.data.closed(error),
  error: (socket, error) => socket.data.closed(error),
  // The promise of `connect` rejects with the same error.
  connectError() {},
}
