import type { ResponseLimits } from "../../http1/http1-limits.ts"
import type { ResponseHead } from "../../http1/response-head.ts"
import { ResponseReader, type ResponseSink } from "../../http1/response-reader.ts"
import { Refusal } from "../policy/refusal.ts"
import type { Carrier, CarrierListener } from "./carrier.ts"
import { explainConnect, explainTls } from "./connect-errors.ts"
import { Outlet } from "./outlet.ts"

/** Where a connection goes. */
export interface Destination {
  /** Of those to the same host, one is as good as another. */
  readonly key: string
  /** A number, never a name: what is connected to was decided about. */
  readonly address: string
  readonly port: number
  /** In words. */
  readonly host: string
  readonly tls: Bun.TLSOptions | undefined
}

/** A request as it is sent. */
export interface SentRequest {
  readonly method: string
  readonly head: string
  readonly isChunked: boolean
  readonly hasBody: boolean
  readonly isUpgrade: boolean
}

/** What a connection tells whoever keeps it. */
export interface UpstreamKeeper {
  readonly limits: ResponseLimits
  /** Its request is over, and there may be another. */
  release(upstream: Upstream): void
  /**
   * It has been given up while it was being made; it is known until it is made, or turns out not to
   * be.
   */
  abandon(upstream: Upstream): void
  /** It is no more. */
  forget(upstream: Upstream): void
}

/** A connection to the outside: one request at a time, and none after anything unexpected. */
export class Upstream implements Carrier, ResponseSink {
  readonly destination: Destination
  /** The connection, or why there is none. */
  readonly connected: Promise<Upstream | Refusal>
  readonly startedMs = performance.now()
  readonly #keeper: UpstreamKeeper
  readonly #settle: (outcome: Upstream | Refusal) => void
  readonly #reader: ResponseReader
  readonly #outlet = new Outlet(() => this.#listener?.onCarrierRoom())
  #socket: Bun.Socket<Upstream> | undefined
  #listener: CarrierListener | undefined
  #request: SentRequest | undefined
  #hasSent = false
  #hasHeard = false
  #isPaused = false
  #isStopped = false
  #uses = 0
  idleSinceMs = 0

  constructor(destination: Destination, keeper: UpstreamKeeper) {
    const { address, port, tls } = destination
    const { promise, resolve } = Promise.withResolvers<Upstream | Refusal>()
    this.destination = destination
    this.connected = promise
    this.#settle = resolve
    this.#keeper = keeper
    this.#reader = new ResponseReader(keeper.limits, this, { isOldRead: true })
    const options = { hostname: address, port, data: this, socket: handlers, ...(tls && { tls }) }
    Bun.connect<Upstream>(options).catch((error: unknown) => this.#neverOpened(error))
  }

  /** Whether somebody has answered there, be it not as we want it. */
  get hasOpened(): boolean {
    return this.#socket !== undefined
  }

  /** Sends a request; only when it is connected and there is no other. */
  begin(request: SentRequest, listener: CarrierListener): void {
    this.#listener = listener
    this.#request = request
    this.#uses++
    this.#hasSent = !request.hasBody
    this.#hasHeard = false
    this.#reader.begin(request.method, request.isUpgrade)
    this.#outlet.add(request.head)
  }

  write(bytes: Uint8Array): boolean {
    const isChunked = this.#request?.isChunked
    if (isChunked) this.#outlet.add(`${bytes.length.toString(16)}\r\n`)
    this.#outlet.add(bytes)
    if (isChunked) this.#outlet.add("\r\n")
    return !this.#outlet.isFull
  }

  end(): void {
    if (this.#request?.isChunked) this.#outlet.add("0\r\n\r\n")
    this.#hasSent = true
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

  abort(): void {
    // Whoever has said goodbye on a WebSocket wants it to arrive; others see that nobody waits for
    // them.
    if (this.#request?.isUpgrade) this.#outlet.finish(() => this.#socket?.end())
    this.#leave()
    this.stop()
  }

  stop(refusal: Refusal = new Refusal(502, "the connection was ended")): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#settle(refusal)
    this.#reader.stop()
    this.#outlet.close()
    if (this.#socket) this.#end()
    else this.#keeper.abandon(this)
    const listener = this.#leave()
    listener?.onFailure(refusal)
  }

  opened(socket: Bun.Socket<Upstream>): void {
    this.#socket = socket
    if (this.#isStopped) this.#end()
    else if (!this.destination.tls) this.#ready()
  }

  shaken(isGood: boolean, error: unknown): void {
    if (this.#isStopped) return
    if (isGood && this.#socket?.authorized) this.#ready()
    else this.stop(explainTls(error, this.destination.host))
  }

  take(bytes: Buffer): void {
    this.#hasHeard = true
    if (this.#listener) this.#reader.push(bytes)
    // Whoever speaks without being asked is not asked.
    else this.stop()
  }

  drain(): void {
    this.#outlet.drain()
  }

  closed(error: unknown): void {
    if (this.#isStopped) return
    const { host, tls } = this.destination
    const isStale = this.#uses > 1 && !this.#hasHeard && this.#listener !== undefined
    if (this.#uses === 0)
      this.stop(
        tls ? explainTls(error, host) : new Refusal(502, `${host} has closed the connection`),
      )
    else if (isStale) {
      const listener = this.#leave()
      this.stop()
      listener?.onStale()
    } else {
      this.#reader.close(error !== undefined)
      this.stop()
    }
  }

  onHead(head: ResponseHead, body: Uint8Array | null | undefined): void {
    this.#listener?.onHead(head, body)
  }

  onPart(bytes: Uint8Array): void {
    this.#listener?.onPart(bytes)
  }

  onEnd(isClean: boolean): void {
    const isReusable = isClean && this.#hasSent
    const listener = this.#leave()
    if (isReusable) {
      this.resume()
      this.#keeper.release(this)
    } else this.stop()
    listener?.onEnd()
  }

  onBroken(reason: string, isClosed: boolean): void {
    const { host } = this.destination
    const what = isClosed
      ? "has closed the connection before its answer was there"
      : `gave an answer that cannot be read: ${reason}`
    this.stop(new Refusal(502, `${host} ${what}`))
  }

  #ready(): void {
    if (this.#socket) this.#outlet.open(this.#socket)
    this.#settle(this)
  }

  #leave(): CarrierListener | undefined {
    const listener = this.#listener
    this.#listener = undefined
    this.#request = undefined
    return listener
  }

  #neverOpened(error: unknown): void {
    this.stop(explainConnect(error, this.destination.host))
    this.#keeper.forget(this)
  }

  #end(): void {
    this.#socket?.terminate()
    this.#keeper.forget(this)
  }
}

const handlers: Bun.SocketHandler<Upstream, "buffer"> = {
  binaryType: "buffer",
  open: (socket) => socket.data.opened(socket),
  handshake: (socket, isGood, error) => socket.data.shaken(isGood, error),
  data: (socket, bytes) => socket.data.take(bytes),
  drain: (socket) => socket.data.drain(),
  close: (socket, error) => socket.data.closed(error),
  error: (socket, error) => socket.data.closed(error),
  // The promise says the same.
  connectError() {},
}
