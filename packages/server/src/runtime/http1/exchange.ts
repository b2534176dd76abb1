import type { ByteQueue, PartReader } from "./byte-queue.ts"
import type { ResponseHead } from "./response-head.ts"
import type { SocketWriter } from "./socket-writer.ts"
import type { WrittenRequest } from "./write-request.ts"

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

/** The connection of an exchange. */
interface ExchangeConnection {
  /** Ends the connection if it still carries this exchange. */
  abort(exchange: Exchange, message: string): void
}

/** A request that is being sent on a connection, and its response. */
export class Exchange {
  readonly request: WrittenRequest
  /**
   * Whether all of the request was handed to the writer. Nothing may be written afterwards, except
   * on a WebSocket: the connection may serve another request.
   */
  hasSent: boolean
  readonly #connection: ExchangeConnection
  readonly #writer: SocketWriter
  readonly #listener: ExchangeListener
  #body: ByteQueue | undefined

  constructor(
    connection: ExchangeConnection,
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
