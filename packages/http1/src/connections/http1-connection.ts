import type { PoolLimits } from "../http1-limits.ts"
import type { ResponseHead } from "../messages/response-reader.ts"
import {
  type ResponseOptions,
  ResponseReader,
  type ResponseSink,
} from "../messages/response-reader.ts"
import type { WrittenRequest } from "../messages/write-request.ts"
import { ByteQueue, type PartReader } from "./byte-queue.ts"
import { PacedReader } from "./paced-reader.ts"
import { SocketWriter } from "./socket-writer.ts"

/** A response, as it arrives. */
export interface ReceivedResponse {
  readonly head: ResponseHead
  /** Null for no body; all of it, if it arrived together with the head; otherwise its parts. */
  readonly body: Uint8Array | null | PartReader
}

/** Why there is no connection, no response, or only a part of a response. */
export class Http1Failure extends Error {
  override readonly name = "Http1Failure"
  /**
   * `connect`: the connection could not be opened; `tls`: its handshake failed; `slow`: opening it
   * took too long; `stale`: a reused connection was closed before the response; `closed`: the
   * connection was closed before the end of the response; `invalid`: the response is invalid;
   * `stopped`: our side ended the request or the connection.
   */
  readonly kind: "connect" | "tls" | "slow" | "stale" | "closed" | "invalid" | "stopped"

  constructor(kind: Http1Failure["kind"], message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/**
 * Receives the outcome of a request: at most one response, then exactly one of the other two. A
 * failure after the response is also the failure of its body.
 */
export interface ExchangeListener {
  onResponse(response: ReceivedResponse): void
  /** The response is complete. */
  onEnd(): void
  onFailure(failure: Http1Failure): void
}

/** Where a connection leads. */
export interface Destination {
  /** Connections with equal keys are interchangeable. */
  readonly key: string
  /** `hostname` may be an address. */
  readonly socket: { readonly unix: string } | { readonly hostname: string; readonly port: number }
  readonly tls?: Bun.TLSOptions | undefined
}

/** The pool that a connection belongs to. */
export interface ConnectionOwner {
  readonly limits: PoolLimits
  readonly options: ResponseOptions
  /** The exchange is over, and the connection can take another one. */
  release(connection: Http1Connection): void
  /** The connection was stopped, but opening it cannot be cancelled. `remove` follows. */
  abandon(connection: Http1Connection): void
  /** The connection is closed. */
  remove(connection: Http1Connection): void
}

const stopped = new Http1Failure("stopped", "the connection was closed")

/**
 * A connection to a server: one request at a time, and none after anything unexpected. The first
 * request may be sent before the connection is open.
 */
export class Http1Connection implements ResponseSink {
  readonly destination: Destination
  /** Resolves when the connection is open, or with the reason why it cannot be opened. */
  readonly opened: Promise<Http1Connection | Http1Failure>
  readonly startedMs = performance.now()
  idleSinceMs = 0
  readonly #owner: ConnectionOwner
  readonly #settleOpened: (outcome: Http1Connection | Http1Failure) => void
  readonly #reader: ResponseReader
  readonly #paced: PacedReader
  readonly #writer = new SocketWriter()
  #socket: Bun.Socket<Http1Connection> | undefined
  #exchange: Exchange | undefined
  /** With TLS, this is after the handshake. */
  #isOpen = false
  #hasReceived = false
  #isPaused = false
  #isStopped = false
  /** How many requests it has carried. */
  #uses = 0

  constructor(destination: Destination, owner: ConnectionOwner) {
    const { promise, resolve } = Promise.withResolvers<Http1Connection | Http1Failure>()
    this.destination = destination
    this.opened = promise
    this.#settleOpened = resolve
    this.#owner = owner
    this.#reader = new ResponseReader(owner.limits, this, owner.options)
    const source = {
      pause: () => this.#socket?.pause(),
      resume: () => {
        if (!this.#isPaused) this.#socket?.resume()
      },
    }
    this.#paced = new PacedReader(source, owner.limits, (bytes) =>
      this.#reader.push(bytes as Buffer),
    )
    connect(this).catch((error: unknown) => {
      this.stop(new Http1Failure("connect", "no connection could be opened", { cause: error }))
      owner.remove(this)
    })
  }

  /** Whether a server has accepted the connection, even if the TLS handshake failed later. */
  get wasAccepted(): boolean {
    return this.#socket !== undefined
  }

  /** Sends a request. The connection must not carry another one. */
  send(request: WrittenRequest, listener: ExchangeListener): Exchange {
    const exchange = new Exchange(this, this.#writer, request, listener)
    this.#exchange = exchange
    this.#uses++
    this.#hasReceived = false
    this.#reader.begin(request.method, request.isUpgrade)
    this.#writer.add(request.text)
    return exchange
  }

  pause(): void {
    if (this.#isPaused || this.#isStopped) return
    this.#isPaused = true
    this.#socket?.pause()
  }

  resume(): void {
    if (!this.#isPaused || this.#isStopped) return
    this.#isPaused = false
    if (!this.#paced.isWaiting) this.#socket?.resume()
  }

  /** Ends the connection if it still carries this exchange. */
  abort(exchange: Exchange, message: string): void {
    if (this.#exchange !== exchange) return
    // The close frame of a WebSocket must arrive; other servers may see an abrupt end.
    if (exchange.request.isUpgrade) this.#writer.finish(() => this.#socket?.end())
    this.stop(new Http1Failure("stopped", message))
  }

  /** Closes the connection. An exchange on it fails. */
  stop(failure: Http1Failure = stopped): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#settleOpened(failure)
    this.#paced.stop()
    this.#reader.stop()
    this.#writer.close()
    if (this.#socket) this.#terminate(this.#socket)
    else this.#owner.abandon(this)
    const exchange = this.#exchange
    this.#exchange = undefined
    exchange?.fail(failure)
  }

  accepted(socket: Bun.Socket<Http1Connection>): void {
    this.#socket = socket
    if (this.#isStopped) this.#terminate(socket)
    else if (!this.destination.tls) this.#open(socket)
  }

  handshakeDone(socket: Bun.Socket<Http1Connection>, isSuccess: boolean, error: unknown): void {
    if (this.#isStopped) return
    if (isSuccess && socket.authorized) this.#open(socket)
    else this.#failHandshake(error)
  }

  receive(bytes: Buffer): void {
    this.#hasReceived = true
    if (this.#exchange) this.#paced.push(bytes)
    // Bytes without a request could be taken for the response to the next one.
    else this.stop()
  }

  drain(): void {
    this.#writer.drain()
  }

  closed(error: unknown): void {
    this.#paced.whenRead(() => this.#closed(error))
  }

  #closed(error: unknown): void {
    if (this.#isStopped) return
    if (!this.#isOpen) this.#failHandshake(error)
    else if (this.#exchange && !this.#hasReceived) {
      // A server may close an idle connection at any time, also while a request is on its way.
      const kind = this.#uses > 1 ? "stale" : "closed"
      this.stop(new Http1Failure(kind, "the connection was closed before the response"))
    } else {
      this.#reader.close(error !== undefined)
      this.stop()
    }
  }

  onHead(head: ResponseHead, body: Uint8Array | null | undefined): void {
    this.#exchange?.respond(
      head,
      body === undefined ? new ByteQueue(this, this.#owner.limits.bufferedBytesMax) : body,
    )
  }

  onPart(bytes: Uint8Array): void {
    this.#exchange?.receive(bytes)
  }

  onEnd(isClean: boolean): void {
    const exchange = this.#exchange
    this.#exchange = undefined
    // The rest of a request that was not sent completely would precede the next one.
    if (isClean && exchange?.hasSent && this.#writer.isEmpty) {
      this.resume()
      this.idleSinceMs = performance.now()
      this.#owner.release(this)
    } else this.stop()
    exchange?.end()
  }

  onBroken(reason: string, isClosed: boolean): void {
    this.stop(new Http1Failure(isClosed ? "closed" : "invalid", reason))
  }

  #open(socket: Bun.Socket<Http1Connection>): void {
    this.#isOpen = true
    this.#writer.open(socket)
    this.#settleOpened(this)
  }

  #failHandshake(error: unknown): void {
    this.stop(new Http1Failure("tls", "the TLS handshake has failed", { cause: error }))
  }

  #terminate(socket: Bun.Socket<Http1Connection>): void {
    socket.terminate()
    this.#owner.remove(this)
  }
}

/** A request that is being sent on a connection, and its response. */
export class Exchange {
  readonly request: WrittenRequest
  /**
   * Whether all of the request was handed to the writer. Nothing may be written afterwards, except
   * on a WebSocket: the connection may serve another request.
   */
  hasSent: boolean
  readonly #connection: Http1Connection
  readonly #writer: SocketWriter
  readonly #listener: ExchangeListener
  #body: ByteQueue | undefined

  constructor(
    connection: Http1Connection,
    writer: SocketWriter,
    request: WrittenRequest,
    listener: ExchangeListener,
  ) {
    this.#connection = connection
    this.#writer = writer
    this.#listener = listener
    this.request = request
    this.hasSent = request.framing === 0
  }

  /** Sends a part of the body. Callers wait for `drained` before they send the next one. */
  write(bytes: Uint8Array): void {
    if (this.request.framing === "chunked") this.#writer.addChunk(bytes)
    else this.#writer.add(bytes)
  }

  drained(): Promise<void> {
    return this.#writer.drained()
  }

  /** Marks the end of the request's body. */
  endBody(): void {
    if (this.request.framing === "chunked") this.#writer.addLastChunk()
    this.hasSent = true
  }

  /** Drops the request and its response. Does nothing after the end of the response. */
  abort(message = "the request was aborted"): void {
    this.#connection.abort(this, message)
  }

  /** The connection has received a response. A queue receives the parts of its body. */
  respond(head: ResponseHead, body: Uint8Array | null | ByteQueue): void {
    if (body !== null && !(body instanceof Uint8Array)) this.#body = body
    this.#listener.onResponse({ head, body })
  }

  receive(part: Uint8Array): void {
    this.#body?.push(part)
  }

  end(): void {
    this.#body?.end()
    this.#listener.onEnd()
  }

  fail(failure: Http1Failure): void {
    this.#body?.fail(failure)
    this.#listener.onFailure(failure)
  }
}

function connect(connection: Http1Connection): Promise<unknown> {
  const { socket, tls } = connection.destination
  const options = { data: connection, socket: handlers }
  return "unix" in socket
    ? Bun.connect<Http1Connection>({ ...options, ...socket })
    : Bun.connect<Http1Connection>({ ...options, ...socket, ...(tls && { tls }) })
}

const handlers: Bun.SocketHandler<Http1Connection, "buffer"> = {
  binaryType: "buffer",
  open: (socket) => socket.data.accepted(socket),
  handshake: (socket, isSuccess, error) => socket.data.handshakeDone(socket, isSuccess, error),
  data: (socket, bytes) => socket.data.receive(bytes),
  drain: (socket) => socket.data.drain(),
  close: (socket, error) => socket.data.closed(error),
  error: (socket, error) => socket.data.closed(error),
  // The promise of `connect` rejects with the same error.
  connectError() {},
}
