import {
  ConnectionPool,
  type Destination,
  type Exchange,
  type ExchangeListener,
  type Http1Connection,
  Http1Failure,
  http1Limits,
  isRepeatable,
  type PoolLimits,
  type ReceivedResponse,
  toStream,
  type WrittenRequest,
  writeRequest,
} from "@hamlet/http1"
import { createTimeSlice } from "@hamlet/kit"
import type { ProgramResponse, SlotRequest } from "../program/runner.ts"

/** A request to a process. Its path contains the id of the run. */
export interface GuestRequest extends Pick<SlotRequest, "method" | "host" | "headers" | "body"> {
  readonly path: string
}

/** Why there is no response, or only a part of one. */
export interface GuestFailure {
  /**
   * `unsendable`: the request is invalid; `body`: the body of the request failed; `closed`: the
   * connection was closed; `invalid`: the response is invalid; `aborted`: the caller aborted it.
   */
  readonly kind: "unsendable" | "body" | "closed" | "invalid" | "aborted"
  readonly message: string
}

/**
 * Receives the outcome of a request: exactly one of these calls. Failures after the head are errors
 * of the body's stream.
 */
export interface ResponseListener {
  onResponse(response: ProgramResponse): void
  onFailure(failure: GuestFailure): void
}

/** Limits of the connections to one process. They are not settings: no program needs more. */
export const guestClientLimits: PoolLimits = {
  ...http1Limits,
  bufferedBytesMax: 65_536,
  pooledMax: 64,
  pooledMsMax: 10_000,
}

/**
 * Sends requests to one process over its Unix socket, on connections that are reused. ADR 9 says
 * why this is not `fetch`.
 */
export class GuestClient {
  readonly #destinations: readonly [Destination]
  readonly #pool: ConnectionPool
  #isStopped = false

  constructor(path: string, limits: PoolLimits = guestClientLimits) {
    this.#destinations = [{ key: path, socket: { unix: path } }]
    this.#pool = new ConnectionPool(limits)
  }

  /** How many connections there are. */
  get size(): number {
    return this.#pool.size
  }

  /** Failures are passed to the listener, never thrown. */
  send(request: GuestRequest, listener: ResponseListener): GuestExchange {
    const exchange = new GuestExchange(this, request.body, listener)
    const written = writeGuestRequest(request)
    if (!written) exchange.fail("unsendable", "it contains a character that cannot be sent")
    else if (this.#isStopped) exchange.fail("closed", "the process has ended")
    else exchange.sendOn(this.#pool.take(this.#destinations) ?? this.#connect(), written)
    return exchange
  }

  /** Sends a request again, on a new connection. */
  repeat(exchange: GuestExchange, request: WrittenRequest): void {
    if (this.#isStopped) exchange.fail("closed", "the process has ended")
    else exchange.sendOn(this.#connect(), request)
  }

  /** Closes connections that have been idle for too long. */
  sweep(nowMs: number): void {
    this.#pool.sweep(nowMs)
  }

  stop(): void {
    this.#isStopped = true
    this.#pool.stop(new Http1Failure("stopped", "the process has ended"))
  }

  #connect() {
    return this.#pool.connect(this.#destinations[0])
  }
}

/**
 * A request to a process and its response.
 *
 *   waiting ──▶ responded ──▶ over          the listener is called for the first step
 *      └─────────────────────────▲
 */
export class GuestExchange implements ExchangeListener {
  state: "waiting" | "responded" | "over" = "waiting"
  readonly #client: GuestClient
  readonly #body: GuestRequest["body"]
  readonly #listener: ResponseListener
  #exchange: Exchange | undefined
  /** Reads the body of the request while it is being sent. */
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined

  constructor(client: GuestClient, body: GuestRequest["body"], listener: ResponseListener) {
    this.#client = client
    this.#body = body
    this.#listener = listener
  }

  /** Sends the request and its body. */
  sendOn(connection: Http1Connection, request: WrittenRequest): void {
    const body = this.#body
    const exchange = connection.send(request, this)
    this.#exchange = exchange
    if (body instanceof ReadableStream) void this.#sendStream(body, exchange)
    else if (body !== null) {
      exchange.write(body)
      exchange.endBody()
    }
  }

  /** Aborts the request. The program sees that its client has closed the connection. */
  abort(): void {
    this.#abort("aborted", "the request was aborted")
  }

  /** Ends it with a failure. */
  fail(kind: GuestFailure["kind"], message: string): void {
    const wasWaiting = this.state === "waiting"
    this.#finish()
    if (wasWaiting) this.#listener.onFailure({ kind, message })
  }

  onResponse({ head: { status, headers }, body }: ReceivedResponse): void {
    this.state = "responded"
    this.#listener.onResponse({
      status,
      headers,
      body:
        body === null || body instanceof Uint8Array
          ? body
          : toStream(body, () => this.#abort("aborted", "the response was cancelled")),
    })
  }

  onEnd(): void {
    this.#finish()
  }

  onFailure(failure: Http1Failure): void {
    if (this.state === "over") return
    const request = this.#exchange?.request
    // The second connection is new and cannot be stale, so there is no third attempt.
    if (failure.kind === "stale" && request && this.#body === null && isRepeatable(request))
      this.#client.repeat(this, request)
    else this.fail(failure.kind === "invalid" ? "invalid" : "closed", failure.message)
  }

  /** Sends the body as fast as the process reads it, until the exchange is over. */
  async #sendStream(body: ReadableStream<Uint8Array>, exchange: Exchange): Promise<void> {
    const { framing } = exchange.request
    const reader = body.getReader()
    this.#reader = reader
    // A stream that always has a small part ready would otherwise block the event loop until the
    // socket is full.
    const yieldIfDue = createTimeSlice()
    let sent = 0
    try {
      while (this.#reader) {
        // The first part waits until the connection is open.
        await exchange.drained()
        const { done, value } = await reader.read()
        if (!this.#reader) return
        if (done) break
        sent += value.length
        if (framing !== "chunked" && sent > framing)
          throw new Error("it is longer than its content-length")
        exchange.write(value)
        await yieldIfDue()
      }
      if (!this.#reader) return
      if (framing !== "chunked" && sent < framing)
        throw new Error("it is shorter than its content-length")
      exchange.endBody()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#abort("body", `the request body failed: ${reason}`)
    }
  }

  #finish(): void {
    this.state = "over"
    this.#exchange = undefined
    // The process has responded without reading all of the body.
    const reader = this.#reader
    this.#reader = undefined
    reader?.cancel().catch(() => {})
  }

  #abort(kind: GuestFailure["kind"], message: string): void {
    if (this.state === "over") return
    const exchange = this.#exchange
    this.fail(kind, message)
    exchange?.abort(message)
  }
}

/** Undefined when a character would change the meaning of the request. */
export function writeGuestRequest(request: GuestRequest): WrittenRequest | undefined {
  return writeRequest(request, findFraming(request))
}

/** A stream has the length that its client has stated. */
function findFraming({ headers, body }: GuestRequest): number | "chunked" {
  if (body === null || body instanceof Uint8Array) return body?.length ?? 0
  const value = headers.find(([name]) => name === "content-length")?.[1]
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : "chunked"
}
