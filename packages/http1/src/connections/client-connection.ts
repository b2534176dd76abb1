import type { Http1Limits } from "../http1-limits.ts"
import { ChunkDecoder, type Decoded } from "../messages/chunk-decoder.ts"
import { HeadBuffer } from "../messages/head-buffer.ts"
import { parseRequestHead, type RequestHead } from "../messages/request-head.ts"
import { ByteQueue } from "./byte-queue.ts"
import { PacedReader, type ReadStep, readAll } from "./paced-reader.ts"
import { SocketWriter } from "./socket-writer.ts"

/** Limits of a connection from a client. */
export interface ClientLimits extends Http1Limits {
  /** How long a connection may be idle. */
  readonly keptMsMax: number
  /** From the first byte of a head to its last, and for the rest of a body that is discarded. */
  readonly headMsMax: number
  /** Bytes of a body that are buffered while its reader does not take more, plus one read. */
  readonly bufferedBytesMax: number
  /** Bytes of a body that are discarded after an early response. */
  readonly discardedBytesMax: number
  /** How long an early response waits for the end of the body. */
  readonly deferredMsMax: number
  /** How long the client may take to read the last response, and then to close the connection. */
  readonly idleMsMax: number
  readonly lingerMsMax: number
}

/** The client has sent what is no proper request. The message says what is wrong with it. */
export class BadRequest extends Error {
  override readonly name = "BadRequest"
}

/** The client has closed the connection. */
export class ClientGone extends Error {
  override readonly name = "ClientGone"
}

/** The part of a socket that a connection uses. */
type SocketParts = Pick<Bun.Socket, "write" | "pause" | "resume" | "shutdown" | "terminate">

const pipelined = new BadRequest("bytes follow it that are not part of it")

/** A request of a client. Its response is written to its connection. */
export class ClientRequest {
  readonly connection: ClientConnection
  readonly head: RequestHead
  /** The body; after `openTunnel`, all bytes that follow. */
  body: ByteQueue
  #reason: Error | undefined
  #controller: AbortController | undefined
  #onAbort: ((reason: Error) => void) | undefined

  constructor(connection: ClientConnection, head: RequestHead, body: ByteQueue) {
    this.connection = connection
    this.head = head
    this.body = body
  }

  get isAborted(): boolean {
    return this.#reason !== undefined
  }

  /** Created on demand: an AbortController costs more than parsing the request. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  /** Waits for the work, but rejects when the request is aborted: with BadRequest, ClientGone, or the reason of `abort`. */
  untilAborted(work: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onAbort = reject
      if (this.#reason) reject(this.#reason)
      work.then(resolve, reject)
    })
  }

  throwIfAborted(): void {
    if (this.#reason) throw this.#reason
  }

  abort(reason: Error): void {
    if (this.#reason) return
    this.#reason = reason
    this.#onAbort?.(reason)
    this.#controller?.abort(reason)
    this.body.fail(reason)
  }
}

/**
 * A connection from a client: one request at a time.
 *
 *   idle ──▶ head ──▶ busy ──▶ (discarding) ──▶ idle      the rest of a body is dropped once the response is complete
 *              └────────┴──▶ closing ──▶ closed           the last response is being written, nothing is read
 */
export class ClientConnection {
  readonly #limits: ClientLimits
  readonly #socket: SocketParts
  readonly #parseHead: typeof parseRequestHead
  readonly #writer = new SocketWriter()
  readonly #paced: PacedReader
  readonly #head = new HeadBuffer()
  #arrival = Promise.withResolvers<ClientRequest | BadRequest | undefined>()
  #state: "idle" | "head" | "busy" | "discarding" | "closing" | "closed" = "idle"
  #sinceMs = performance.now()
  #request: ClientRequest | undefined
  #decoder: BodyDecoder | undefined
  #isPaused = false
  #isKept = true
  #discardedBytes = 0
  /** A response that is written when the whole body of its request has arrived. */
  #deferred: Uint8Array | undefined

  /** `parseHead` returns a string that says what is wrong. */
  constructor(socket: SocketParts, limits: ClientLimits, parseHead = parseRequestHead) {
    this.#limits = limits
    this.#socket = socket
    this.#parseHead = parseHead
    this.#writer.open(socket)
    const source = {
      pause: () => socket.pause(),
      resume: () => {
        if (!this.#isPaused && this.#state !== "closed") socket.resume()
      },
    }
    this.#paced = new PacedReader(source, limits, (bytes) => this.#read(bytes as Buffer))
  }

  /**
   * The next request on this connection, once the response to the last one is finished; undefined
   * when the connection is closed. A BadRequest stands for one that cannot be parsed; no other
   * follows.
   */
  async nextRequest(): Promise<ClientRequest | BadRequest | undefined> {
    const request = await this.#arrival.promise
    this.#arrival = Promise.withResolvers()
    if (this.#state === "closed") this.#arrival.resolve(undefined)
    return request
  }

  get isIdle(): boolean {
    return this.#state === "idle"
  }

  receive(bytes: Buffer): void {
    this.#paced.push(bytes)
  }

  #read(bytes: Buffer): ReadStep {
    if (this.#state === "idle" || this.#state === "head") return this.#receiveHead(bytes)
    if (this.#state === "busy") return this.#receiveBody(bytes)
    if (this.#state === "discarding" || this.#state === "closing") return this.#discard(bytes)
    return readAll
  }

  drain(): void {
    this.#writer.drain()
  }

  /** The client sends no more bytes. A request that has arrived as a whole gets its response. */
  ended(): void {
    this.#paced.whenRead(() => this.#ended())
  }

  #ended(): void {
    if (this.#state === "busy" && this.#decoder?.isOver) this.#isKept = false
    else if (this.#state !== "closing") this.closed()
  }

  closed(): void {
    if (this.#state === "closed") return
    this.#state = "closed"
    this.#paced.stop()
    this.#writer.close()
    this.#head.clear()
    this.#deferred = undefined
    this.#request?.abort(new ClientGone())
    this.#request = undefined
    this.#arrival.resolve(undefined)
  }

  pause(): void {
    if (this.#isPaused || this.#state === "closed") return
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    if (!this.#isPaused || this.#state === "closed") return
    this.#isPaused = false
    if (!this.#paced.isWaiting) this.#socket.resume()
  }

  /** Writes a part of the response. A string is Latin-1. */
  write(part: Uint8Array | string): void {
    this.#writer.add(part)
  }

  /** Writes a part of a chunked body. */
  writeChunk(bytes: Uint8Array): void {
    this.#writer.addChunk(bytes)
  }

  writeLastChunk(): void {
    this.#writer.addLastChunk()
  }

  drained(): Promise<void> {
    return this.#writer.drained()
  }

  /** From now on the connection carries bytes and no more requests. */
  openTunnel(): void {
    if (!this.#request) return
    this.#decoder = new BodyDecoder(Number.POSITIVE_INFINITY, this.#limits)
    this.#request.body = new ByteQueue(this, this.#limits.bufferedBytesMax)
    this.#isKept = false
  }

  /** Closes the connection when the response is sent. The response must say so. */
  closeAfterResponse(): void {
    this.#isKept = false
  }

  /** Ends the response that was written. */
  finish(): void {
    this.#finish(undefined)
  }

  /**
   * Writes a whole response as soon as the body of the request has arrived. Deno, as a client, can
   * get stuck on a response that comes earlier: it then takes five seconds to send the next request.
   */
  respond(response: Uint8Array): void {
    this.#finish(response)
  }

  /** Writes a whole response to a request that could not be parsed, and closes the connection. */
  refuse(response: Uint8Array): void {
    this.#deferred = response
    this.#close({ isRead: false })
  }

  /** Closes the connection at once, even in the middle of a response. */
  terminate(): void {
    if (this.#state === "closed") return
    // Writes what the socket still takes.
    this.#writer.finish(() => {})
    this.closed()
    this.#socket.terminate()
  }

  /** Enforces the time limits. */
  sweep(nowMs: number): void {
    if (this.#state === "busy") return
    if (this.#deferred && nowMs - this.#sinceMs > this.#limits.deferredMsMax) this.#writeDeferred()
    if (nowMs - this.#sinceMs > this.#stateMsMax) this.terminate()
  }

  get #stateMsMax(): number {
    const { keptMsMax, headMsMax, lingerMsMax, idleMsMax } = this.#limits
    if (this.#state === "idle") return keptMsMax
    if (this.#state !== "closing") return headMsMax
    // The client may read the rest of its response later.
    return this.#writer.isEmpty ? lingerMsMax : idleMsMax
  }

  #receiveHead(bytes: Buffer): ReadStep {
    const { headBytesMax, bufferedBytesMax } = this.#limits
    if (this.#state === "idle") this.#enter("head")
    const { all, end, after } = this.#head.push(bytes)
    if (end > headBytesMax || (end < 0 && all.length > headBytesMax))
      return this.#rejectHead(`its head has more than ${headBytesMax} bytes`)
    if (end < 0) return readAll
    const head = this.#parseHead(all.toString("latin1", 0, end))
    if (typeof head === "string") return this.#rejectHead(head)
    const request = new ClientRequest(this, head, new ByteQueue(this, bufferedBytesMax))
    this.#enter("busy")
    this.#isKept = head.isKept
    this.#request = request
    this.#decoder = new BodyDecoder(head.framing, this.#limits)
    if (this.#decoder.isOver) request.body.end()
    const step = after < all.length ? this.#receiveBody(all.subarray(after)) : readAll
    this.#arrival.resolve(request)
    return step
  }

  /** Nothing more is read: where the next request would begin is unknown. */
  #rejectHead(reason: string): ReadStep {
    this.#enter("closing")
    this.#arrival.resolve(new BadRequest(reason))
    return readAll
  }

  #receiveBody(bytes: Buffer): ReadStep {
    const decoder = this.#decoder as BodyDecoder
    const body = this.#request?.body
    if (decoder.isOver) return this.#abortRequest(pipelined)
    const decoded = decoder.decode(bytes)
    if (typeof decoded === "string") return this.#abortRequest(new BadRequest(decoded))
    if (decoded.content.length > 0) body?.push(decoded.content)
    if (!decoder.isOver) return toStep(bytes, decoded)
    if (decoded.read < bytes.length) this.#abortRequest(pipelined)
    else body?.end()
    return { rest: undefined, framing: decoded.framing }
  }

  /** The connection cannot be kept: where the next request would begin is unknown. */
  #abortRequest(reason: BadRequest): ReadStep {
    this.#isKept = false
    this.#request?.abort(reason)
    return readAll
  }

  #finish(deferred: Uint8Array | undefined): void {
    if (this.#state !== "busy") return
    const unreadBytes = this.#request?.body.bufferedBytes ?? 0
    this.#request = undefined
    this.#deferred = deferred
    if (!this.#isKept) return void this.#close({ isRead: this.#decoder?.isOver === true })
    this.#enter("discarding")
    this.#discardedBytes = 0
    this.resume()
    this.#countDiscarded(unreadBytes)
  }

  #discard(bytes: Buffer): ReadStep {
    if (this.#state === "closing") {
      this.#countDiscarded(bytes.length)
      return readAll
    }
    const decoded = this.#decoder?.decode(bytes)
    if (typeof decoded !== "object") {
      this.terminate()
      return readAll
    }
    this.#countDiscarded(decoded.read)
    // The response is complete, so what follows is the next request.
    return toStep(bytes, decoded)
  }

  #countDiscarded(bytes: number): void {
    this.#discardedBytes += bytes
    if (this.#discardedBytes > this.#limits.discardedBytesMax) {
      // A client that is still sending reads the response only when its writes block. If we closed
      // the connection now, it would see an error instead of the response.
      if (this.#state === "discarding") this.#enter("closing")
      this.#writeDeferred()
      this.pause()
    } else if (this.#state === "discarding" && this.#decoder?.isOver) {
      this.#writeDeferred()
      this.#enter("idle")
    }
  }

  #writeDeferred(): void {
    if (this.#deferred) this.write(this.#deferred)
    this.#deferred = undefined
  }

  /** `isRead`: the client sends nothing more that would have to be read. */
  #close({ isRead }: { readonly isRead: boolean }): void {
    this.#writeDeferred()
    this.#enter("closing")
    this.#head.clear()
    this.#discardedBytes = 0
    this.resume()
    // Half-close: a client that is still sending, such as the close frame of a WebSocket, would
    // otherwise get an error and drop what it has received.
    this.#writer.finish(() => (isRead ? this.terminate() : this.#socket.shutdown()))
  }

  #enter(state: "idle" | "head" | "busy" | "discarding" | "closing"): void {
    this.#state = state
    this.#sinceMs = performance.now()
  }
}

function toStep(bytes: Uint8Array, { read, framing }: Decoded): ReadStep {
  return { rest: read < bytes.length ? bytes.subarray(read) : undefined, framing }
}

/** Separates the body of a request from its framing and from the bytes that follow. */
class BodyDecoder {
  readonly #chunks: ChunkDecoder | undefined
  #left: number

  /** With an infinite length, all bytes that follow are the body. */
  constructor(framing: number | "chunked", limits: Http1Limits) {
    this.#chunks = framing === "chunked" ? new ChunkDecoder(limits) : undefined
    this.#left = framing === "chunked" ? 0 : framing
  }

  get isOver(): boolean {
    return this.#chunks ? this.#chunks.isOver : this.#left === 0
  }

  /** A string says what is wrong. */
  decode(bytes: Uint8Array): Decoded | string {
    if (this.#chunks) {
      const decoded = this.#chunks.decode(bytes, 0)
      return this.#chunks.problem ?? decoded
    }
    const count = Math.min(this.#left, bytes.length)
    this.#left -= count
    return { content: bytes.subarray(0, count), read: count, framing: 0 }
  }
}
