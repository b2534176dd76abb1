import { AppError } from "../../../domain/app-error.ts"
import { createRateLimiter, type RateLimiter } from "../../../domain/limits/rate-limit.ts"
import type { EgressClient, EgressListener } from "../../sandbox/egress-listener.ts"
import type { EgressLimits } from "../egress-limits.ts"
import { Refusal } from "../policy/refusal.ts"
import type { OwnServer, RouteDeps } from "../policy/route.ts"
import { Front, type FrontKeeper } from "./front.ts"
import { Journey, type JourneyDoor, type JourneyEnd } from "./journey.ts"
import { Relay, type RelayDoor } from "./relay.ts"
import type { RequestHead } from "./request-head.ts"
import { UpstreamPool } from "./upstream-pool.ts"

/** What a door needs. */
export interface DoorDeps {
  readonly limits: EgressLimits
  readonly routes: RouteDeps
  takeBytes(ownerId: string, bytes: number): void
  onError(error: unknown): void
  /** It was stopped. */
  forgetDoor(door: SandboxDoor): void
}

/** What has gone through a door. */
export interface DoorTotals {
  readonly requests: number
  readonly blocked: number
  readonly bytesSent: number
  readonly bytesReceived: number
}

/** The socket in one sandbox, and all that goes out through it. */
export class SandboxDoor implements EgressListener, FrontKeeper, RelayDoor, JourneyDoor {
  readonly limits: EgressLimits
  readonly routes: RouteDeps
  readonly own: OwnServer
  readonly pool: UpstreamPool
  readonly #deps: DoorDeps
  readonly #listener: Bun.UnixSocketListener<Front>
  readonly #limiter: RateLimiter | undefined
  readonly #fronts = new Set<Front>()
  readonly #relays = new Set<Relay>()
  readonly #admitted = Promise.withResolvers<EgressClient>()
  #guest: EgressClient | undefined
  readonly #totals = { requests: 0, blocked: 0, bytesSent: 0, bytesReceived: 0 }
  #open = 0
  #isStopped = false

  constructor(path: string, deps: DoorDeps) {
    const { limits, routes } = deps
    this.limits = limits
    this.routes = routes
    this.own = routes.own
    this.pool = new UpstreamPool(limits)
    this.#deps = deps
    this.#limiter =
      limits.requestsPerMinute === undefined
        ? undefined
        : createRateLimiter(limits.requestsPerMinute, Date.now)
    this.#listener = Bun.listen<Front>({
      unix: path,
      socket: { ...handlers, open: (socket) => this.#meet(socket) },
    })
  }

  get totals(): DoorTotals {
    return this.#totals
  }

  /** Connections from the sandbox, and to the outside. */
  get sizes(): { readonly fronts: number; readonly upstreams: number; readonly requests: number } {
    return { fronts: this.#fronts.size, upstreams: this.pool.size, requests: this.#relays.size }
  }

  setClient(guest: EgressClient): void {
    this.#guest = guest
    this.#admitted.resolve(guest)
  }

  /** Ends what has taken its time. */
  sweep(nowMs: number): void {
    for (const relay of this.#relays) relay.sweep(nowMs)
    for (const front of this.#fronts) front.sweep(nowMs)
    this.pool.sweep(nowMs)
  }

  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    // The socket's file goes with it.
    this.#listener.stop(true)
    for (const front of [...this.#fronts]) front.terminate()
    this.pool.stop()
    this.#deps.forgetDoor(this)
  }

  accept(front: Front, head: RequestHead): Relay {
    const relay = new Relay(this, front, head)
    this.#relays.add(relay)
    return relay
  }

  noteUnread(): void {
    this.noteEnd({ isBlocked: true, bytesSent: 0, bytesReceived: 0 })
  }

  forgetFront(front: Front): void {
    this.#fronts.delete(front)
  }

  embark(head: RequestHead): Journey | Promise<Journey> {
    return this.#guest
      ? new Journey(this, this.#guest, head)
      : this.#admitted.promise.then((guest) => new Journey(this, guest, head))
  }

  forgetRelay(relay: Relay): void {
    this.#relays.delete(relay)
  }

  onError(error: unknown): void {
    this.#deps.onError(error)
  }

  enter(isApi: boolean): Refusal | undefined {
    const { connectionsMax, requestsPerMinute } = this.limits
    if (this.#open + this.pool.abandoned >= connectionsMax)
      return new Refusal(429, `the val has ${connectionsMax} outgoing requests open already`)
    try {
      if (!isApi) this.#limiter?.take("")
    } catch {
      return new Refusal(429, `the val sends more than ${requestsPerMinute} requests a minute`)
    }
    this.#open++
    return undefined
  }

  leave(): void {
    this.#open--
  }

  takeBytes(ownerId: string, bytes: number): void {
    try {
      this.#deps.takeBytes(ownerId, bytes)
    } catch (error) {
      if (!(error instanceof AppError)) this.onError(error)
      throw error
    }
  }

  noteEnd({ isBlocked, bytesSent, bytesReceived }: JourneyEnd): void {
    this.#totals.requests++
    if (isBlocked) this.#totals.blocked++
    this.#totals.bytesSent += bytesSent
    this.#totals.bytesReceived += bytesReceived
  }

  #meet(socket: Bun.Socket<Front>): void {
    socket.data = new Front(socket, this)
    if (this.#fronts.size >= this.limits.connectionsMax + this.limits.sparesMax) this.#makeRoom()
    if (this.#isStopped || this.#fronts.size >= this.limits.connectionsMax + this.limits.sparesMax)
      socket.data.terminate()
    else this.#fronts.add(socket.data)
  }

  /** The first that has no request goes. */
  #makeRoom(): void {
    for (const front of this.#fronts) if (front.isIdle) return void front.terminate()
  }
}

const handlers: Bun.SocketHandler<Front, "buffer"> = {
  binaryType: "buffer",
  data: (socket, bytes) => socket.data.take(bytes),
  drain: (socket) => socket.data.drain(),
  close: (socket) => socket.data.closed(),
  error: (socket) => socket.data.closed(),
}
