import type { ResponseHead } from "../http1/response-head.ts"
import { ResponseReader, type ResponseSink } from "../http1/response-reader.ts"
import { sendSoon } from "../http1/send-queue.ts"
import { hasNoBody } from "../http1/write-request.ts"
import { BodySender, type BodyTarget } from "./body-sender.ts"
import type { ClientLimits } from "./client-limits.ts"
import type { Exchange, GuestFailure } from "./exchange.ts"
import { type RequestHead, toRequestHead } from "./request-head.ts"
import { type BodySource, ResponseBody } from "./response-body.ts"

/** What a connection tells whoever keeps it. */
export interface ConnectionKeeper {
  readonly limits: ClientLimits
  /** Its exchange is over, and there may be another. */
  release(connection: Connection): void
  /** It is no more. */
  forget(connection: Connection): void
  /** It was closed before a byte of the answer came, and the request may be sent once more. */
  repeat(exchange: Exchange): void
}

/** Requests are written here on their way to the socket, which takes them at once nearly always. */
const scratch = Buffer.allocUnsafeSlow(65_536)

/** One connection to a process: one request at a time, and none after anything unexpected. */
export class Connection implements ResponseSink, BodyTarget, BodySource {
  readonly #keeper: ConnectionKeeper
  readonly #reader: ResponseReader
  #socket: Bun.Socket<Connection> | undefined
  #exchange: Exchange | undefined
  #body: ResponseBody | undefined
  #sender: BodySender | undefined
  /** What the socket has not taken yet. */
  #unsent: Uint8Array | undefined
  #onDrain: (() => void) | undefined
  #hasSent = false
  #hasHeard = false
  #isPaused = false
  #isClosed = false
  /** How many exchanges it has had. */
  #uses = 0
  idleSinceMs = 0

  constructor(path: string, keeper: ConnectionKeeper) {
    this.#keeper = keeper
    this.#reader = new ResponseReader(keeper.limits, this)
    Bun.connect<Connection>({ unix: path, data: this, socket: handlers }).catch((error: Error) =>
      this.closed(error),
    )
  }

  /** Sends a request; only when there is no other. */
  begin(exchange: Exchange): void {
    exchange.connection = this
    this.#exchange = exchange
    this.#uses++
    this.#hasSent = this.#hasHeard = false
    this.#reader.begin(exchange.request.method)
    if (this.#socket) sendSoon(this)
  }

  /** Only what is still wanted: it may have been ended in the same turn. */
  sendNow(): void {
    if (this.#exchange) this.#send(this.#exchange)
  }

  opened(socket: Bun.Socket<Connection>): void {
    this.#socket = socket
    if (this.#isClosed) socket.terminate()
    else this.sendNow()
  }

  take(bytes: Buffer): void {
    this.#hasHeard = true
    if (this.#exchange) this.#reader.push(bytes)
    // Whoever speaks without being asked is not asked again.
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
      this.#leave()
      this.stop()
      exchange.connection = undefined
      this.#keeper.repeat(exchange)
      return
    }
    if (exchange && !this.#hasHeard)
      this.break("closed", "the connection was closed before it began")
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
    if (body === undefined) this.#body = new ResponseBody(this, this.#keeper.limits.aheadBytesMax)
    this.#exchange?.answer({
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
    // A request that is answered though not all of it was taken is in the way of the next.
    const isReusable = isClean && this.#hasSent && this.#unsent === undefined
    this.#leave()
    exchange?.end()
    if (isReusable) {
      this.resume()
      this.#keeper.release(this)
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

  /** Whoever read the answer wants no more of it. */
  cancel(): void {
    this.break("aborted", "nobody wants the rest")
  }

  /** Ends the exchange and the connection with it. */
  break(kind: GuestFailure["kind"], message: string): void {
    const exchange = this.#exchange
    const body = this.#body
    this.#leave()
    this.stop()
    exchange?.fail(kind, message)
    body?.fail(message)
  }

  stop(): void {
    if (this.#isClosed) return
    if (this.#exchange) {
      this.break("closed", "the process is gone")
      return
    }
    this.#isClosed = true
    this.#socket?.terminate()
    this.#reader.stop()
    this.#unsent = undefined
    this.#onDrain?.()
    this.#keeper.forget(this)
  }

  #send(exchange: Exchange): void {
    const { body } = exchange.request
    const head = toRequestHead(exchange.request)
    if (!head) {
      this.break("unsendable", "there is a character in it that cannot be sent")
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
    // The scratch is needed for the next one. A Buffer's own `slice` would not copy.
    if (count < bytes) this.#unsent = new Uint8Array(target.subarray(Math.max(0, count), bytes))
  }

  async #sendStream(
    exchange: Exchange,
    body: ReadableStream<Uint8Array>,
    { length }: RequestHead,
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
          `the request broke off: ${error instanceof Error ? error.message : String(error)}`,
        )
    }
  }

  #leave(): void {
    this.#sender?.stop()
    this.#sender = undefined
    this.#exchange = undefined
    this.#body = undefined
  }

  /**
   * Whether it was closed while nobody used it, as far as one can tell. Sending a request twice is
   * safe only if nothing comes of it, and if there is nothing that was sent already. The new
   * connection has no past, so that there is no third time.
   */
  #mayRepeat({ request }: Exchange): boolean {
    return this.#uses > 1 && !this.#hasHeard && hasNoBody(request.method) && request.body === null
  }
}

const handlers: Bun.SocketHandler<Connection, "buffer"> = {
  binaryType: "buffer",
  open: (socket) => socket.data.opened(socket),
  data: (socket, bytes) => socket.data.take(bytes),
  drain: (socket) => socket.data.drain(),
  close: (socket, error) => socket.data.closed(error),
  error: (socket, error) => socket.data.closed(error),
  // The promise says the same.
  connectError() {},
}
