import { ConnectionPool } from "../http1/connection-pool.ts"
import { Http1Failure } from "../http1/exchange.ts"
import type { Destination } from "../http1/http1-connection.ts"
import { http1Limits, type PoolLimits } from "../http1/http1-limits.ts"
import type { WrittenRequest } from "../http1/write-request.ts"
import { GuestExchange, type ResponseListener } from "./guest-exchange.ts"
import { type GuestRequest, writeGuestRequest } from "./guest-request.ts"

/** Limits of the connections to one process. They are not settings: no val needs more. */
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
