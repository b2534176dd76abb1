import { ByteQueue } from "../../http1/byte-queue.ts"
import type { ResponseHead } from "../../http1/response-head.ts"
import { ResponseReader, type ResponseSink } from "../../http1/response-reader.ts"
import { SocketWriter } from "../../http1/socket-writer.ts"
import type { EgressLimits } from "../egress-limits.ts"
import { Refusal } from "../policy/refusal.ts"
import { explainConnect, explainTls } from "./connect-errors.ts"
import type { UpstreamHead } from "./message-heads.ts"

/** Where a connection leads. */
export interface Destination {
  /** Connections with equal keys and addresses are interchangeable. */
  readonly key: string
  /** An address, never a name: the policy has checked exactly this one. */
  readonly address: string
  readonly port: number
  /** For messages. */
  readonly host: string
  readonly tls: Bun.TLSOptions | undefined
}

/** A response from another server, or from the API of this one. */
export interface UpstreamResponse {
  readonly head: ResponseHead
  /** Null for no body; all of it, if it arrived together with the head; otherwise its parts. */
  readonly body: Uint8Array | null | PartReader
}

/** Reads a body part by part; undefined at the end. Rejects when the body is incomplete. */
export interface PartReader {
  next(): Promise<Uint8Array | undefined>
}

/** The server has closed a reused connection before it sent any byte of a response. */
export class StaleConnection extends Error {
  override readonly name = "StaleConnection"
}

/** The pool that a connection belongs to. */
export interface UpstreamOwner {
  readonly limits: EgressLimits
  /** The request is complete, and the connection can take another one. */
  release(connection: UpstreamConnection): void
  /** The connection is not needed any more, but connecting cannot be cancelled. */
  abandon(connection: UpstreamConnection): void
  /** The connection is closed. */
  remove(connection: UpstreamConnection): void
}

/** A connection to another server: one request at a time, and none after anything unexpected. */
export class UpstreamConnection implements ResponseSink {
  readonly destination: Destination
  /** Resolves when requests can be sent, or with the reason why they cannot. */
  readonly connected: Promise<UpstreamConnection | Refusal>
  readonly startedMs = performance.now()
  readonly #owner: UpstreamOwner
  readonly #settle: (outcome: UpstreamConnection | Refusal) => void
  readonly #reader: ResponseReader
  readonly #writer = new SocketWriter()
  #socket: Bun.Socket<UpstreamConnection> | undefined
  #request: UpstreamRequest | undefined
  #hasReceived = false
  #isPaused = false
  #isStopped = false
  /** How many requests it has carried. */
  #uses = 0
  idleSinceMs = 0

  constructor(destination: Destination, owner: UpstreamOwner) {
    const { address, port, tls } = destination
    const { promise, resolve } = Promise.withResolvers<UpstreamConnection | Refusal>()
    this.destination = destination
    this.connected = promise
    this.#settle = resolve
    this.#owner = owner
    this.#reader = new ResponseReader(owner.limits, this, { acceptsHttp10: true })
    const options = { hostname: address, port, data: this, socket: handlers, ...(tls && { tls }) }
    Bun.connect<UpstreamConnection>(options).catch((error: unknown) => {
      this.stop(explainConnect(error, destination.host))
      this.#owner.remove(this)
    })
  }

  /** Whether a server has accepted the connection, even if the TLS handshake failed later. */
  get hasOpened(): boolean {
    return this.#socket !== undefined
  }

  /** Sends a request. The connection must be connected and without another request. */
  send(head: UpstreamHead): UpstreamRequest {
    const request = new UpstreamRequest(
      this,
      this.#writer,
      head,
      this.#owner.limits.bufferedBytesMax,
    )
    this.#request = request
    this.#uses++
    this.#hasReceived = false
    this.#reader.begin(head.method, head.isUpgrade)
    this.#writer.add(head.text)
    return request
  }

  pause(): void {
    if (this.#isPaused || this.#isStopped) return
    this.#isPaused = true
    this.#socket?.pause()
  }

  resume(): void {
    if (!this.#isPaused || this.#isStopped) return
    this.#isPaused = false
    this.#socket?.resume()
  }

  /** Ends the connection if it still carries this request. */
  abort(request: UpstreamRequest): void {
    if (this.#request !== request) return
    // The close frame of a WebSocket must arrive; other servers may see an abrupt end.
    if (request.head.isUpgrade) this.#writer.finish(() => this.#socket?.end())
    this.stop()
  }

  stop(refusal: Refusal = new Refusal(502, "the connection was closed")): void {
    this.#stop(refusal, refusal)
  }

  opened(socket: Bun.Socket<UpstreamConnection>): void {
    this.#socket = socket
    if (this.#isStopped) this.#terminate()
    else if (!this.destination.tls) this.#becomeReady()
  }

  handshakeDone(isSuccess: boolean, error: unknown): void {
    if (this.#isStopped) return
    if (isSuccess && this.#socket?.authorized) this.#becomeReady()
    else this.stop(explainTls(error, this.destination.host))
  }

  receive(bytes: Buffer): void {
    this.#hasReceived = true
    if (this.#request) this.#reader.push(bytes)
    // Bytes without a request could be taken for the response to the next one.
    else this.stop()
  }

  drain(): void {
    this.#writer.drain()
  }

  closed(error: unknown): void {
    if (this.#isStopped) return
    const { host, tls } = this.destination
    const closedEarly = new Refusal(502, `${host} has closed the connection`)
    if (this.#uses === 0) this.stop(tls ? explainTls(error, host) : closedEarly)
    else if (this.#uses > 1 && !this.#hasReceived && this.#request)
      this.#stop(closedEarly, new StaleConnection())
    else {
      this.#reader.close(error !== undefined)
      this.stop()
    }
  }

  onHead(head: ResponseHead, body: Uint8Array | null | undefined): void {
    this.#request?.receiveHead(head, body)
  }

  onPart(bytes: Uint8Array): void {
    this.#request?.body.push(bytes)
  }

  onEnd(isClean: boolean): void {
    const request = this.#request
    this.#request = undefined
    request?.body.end()
    if (isClean && request?.hasSent) {
      this.resume()
      this.#owner.release(this)
    } else this.stop()
  }

  onBroken(reason: string, isClosed: boolean): void {
    const { host } = this.destination
    const problem = isClosed
      ? "has closed the connection before the end of its response"
      : `sent an invalid response: ${reason}`
    this.stop(new Refusal(502, `${host} ${problem}`))
  }

  #becomeReady(): void {
    if (this.#socket) this.#writer.open(this.#socket)
    this.#settle(this)
  }

  #stop(refusal: Refusal, requestError: Error): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#settle(refusal)
    this.#reader.stop()
    this.#writer.close()
    if (this.#socket) this.#terminate()
    else this.#owner.abandon(this)
    const request = this.#request
    this.#request = undefined
    request?.fail(requestError)
  }

  #terminate(): void {
    this.#socket?.terminate()
    this.#owner.remove(this)
  }
}

/** A request that is being sent on a connection, and its response. */
export class UpstreamRequest {
  readonly head: UpstreamHead
  /** The body of the response. */
  readonly body: ByteQueue
  /** Whether all of the request was handed to the writer. */
  hasSent: boolean
  readonly #connection: UpstreamConnection
  readonly #writer: SocketWriter
  readonly #response = Promise.withResolvers<UpstreamResponse>()

  constructor(
    connection: UpstreamConnection,
    writer: SocketWriter,
    head: UpstreamHead,
    bufferedBytesMax: number,
  ) {
    this.#connection = connection
    this.#writer = writer
    this.head = head
    this.hasSent = !head.hasBody
    this.body = new ByteQueue(connection, bufferedBytesMax)
    // An aborted request is not waited for, and its failure is no news.
    this.#response.promise.catch(() => {})
  }

  /** Rejects with a Refusal, or a StaleConnection. */
  get response(): Promise<UpstreamResponse> {
    return this.#response.promise
  }

  /** Sends a part of the body. Callers wait for `drained` before they send the next one. */
  write(bytes: Uint8Array): void {
    if (this.head.isChunked) this.#writer.add(`${bytes.length.toString(16)}\r\n`)
    this.#writer.add(bytes)
    if (this.head.isChunked) this.#writer.add("\r\n")
  }

  drained(): Promise<void> {
    return this.#writer.drained()
  }

  /** Marks the end of the body. */
  end(): void {
    if (this.head.isChunked) this.#writer.add("0\r\n\r\n")
    this.hasSent = true
  }

  /** Drops the request and its response. Does nothing after the end of the response. */
  abort(): void {
    this.#connection.abort(this)
  }

  receiveHead(head: ResponseHead, body: Uint8Array | null | undefined): void {
    this.#response.resolve({ head, body: body === undefined ? this.body : body })
  }

  fail(error: Error): void {
    this.#response.reject(error)
    this.body.fail(error)
  }
}

const handlers: Bun.SocketHandler<UpstreamConnection, "buffer"> = {
  binaryType: "buffer",
  open: (socket) => socket.data.opened(socket),
  handshake: (socket, isSuccess, error) => socket.data.handshakeDone(isSuccess, error),
  data: (socket, bytes) => socket.data.receive(bytes),
  drain: (socket) => socket.data.drain(),
  close: (socket, error) => socket.data.closed(error),
  error: (socket, error) => socket.data.closed(error),
  // The promise of `connect` rejects with the same error.
  connectError() {},
}
