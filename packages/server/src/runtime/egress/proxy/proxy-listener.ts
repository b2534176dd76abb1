import { AppError } from "../../../domain/app-error.ts"
import { createRateLimiter, type RateLimiter } from "../../../domain/limits/rate-limit.ts"
import type { RunListener } from "../../../domain/runs/runner.ts"
import { ConnectionPool } from "../../http1/connection-pool.ts"
import type { EgressClient, EgressListener } from "../../sandbox/egress-listener.ts"
import type { EgressLimits } from "../egress-limits.ts"
import type { RoutePolicy } from "../policy/decide.ts"
import { Refusal } from "../policy/refusal.ts"
import type { ClientEvents } from "../sockets/socket-context.ts"
import { SocketListener } from "../sockets/socket-listener.ts"
import { ClientConnection, type ClientRequest } from "./client-connection.ts"
import { type CountedRequest, ProxiedRequest, type ProxyContext } from "./proxied-request.ts"
import { parseOwnHead } from "./request-head.ts"

export interface ProxyListenerDeps {
  readonly limits: EgressLimits
  readonly policy: RoutePolicy
  takeBytes(ownerId: string, bytes: number): void
  /** Counts one more socket of the account, or throws a Refusal. */
  openSocket(ownerId: string): () => void
  /** Counts one more connection of the account's sandboxes for sockets; undefined at the limit. */
  admitConnection(ownerId: string): (() => void) | undefined
  onError(error: unknown): void
  onStop(listener: ProxyListener): void
}

/** What a listener has counted. */
export interface ProxyTotals {
  readonly requests: number
  readonly blocked: number
  readonly bytesSent: number
  readonly bytesReceived: number
}

/** The number of things that are open. */
export interface ProxySizes {
  /** Connections from the sandbox. */
  readonly clients: number
  /** Connections to other servers. */
  readonly upstreams: number
  readonly requests: number
}

/** The Unix sockets of one sandbox. */
export interface ProxyPaths {
  readonly requests: string
  /** Undefined if the sandbox has no sockets of its own. */
  readonly sockets: string | undefined
}

/**
 * Listens at the Unix sockets of one sandbox, and forwards the requests and the sockets that arrive
 * there.
 */
export class ProxyListener implements EgressListener {
  readonly #deps: ProxyListenerDeps
  readonly #listener: Bun.UnixSocketListener<ClientConnection>
  readonly #sockets: SocketListener | undefined
  readonly #limiter: RateLimiter | undefined
  readonly #pool: ConnectionPool
  readonly #context: ProxyContext
  readonly #connections = new Set<ClientConnection>()
  readonly #requests = new Set<ProxiedRequest>()
  readonly #client = Promise.withResolvers<EgressClient>()
  readonly #totals = { requests: 0, blocked: 0, bytesSent: 0, bytesReceived: 0 }
  /** Undefined until the listener knows its client. */
  #ownerId: string | undefined
  #openCount = 0
  #isStopped = false

  constructor(paths: ProxyPaths, deps: ProxyListenerDeps) {
    const { limits, policy } = deps
    const { requestsPerMinute } = limits
    this.#deps = deps
    this.#pool = new ConnectionPool(limits, { acceptsHttp10: true })
    this.#limiter =
      requestsPerMinute === undefined ? undefined : createRateLimiter(requestsPerMinute, Date.now)
    this.#context = {
      limits,
      policy,
      pool: this.#pool,
      client: this.#client.promise,
      openRequest: (isApi) => this.#openRequest(isApi),
      takeBytes: (ownerId, bytes) => this.#takeBytes(ownerId, bytes),
      countRequest: (request) => this.#countRequest(request),
      onError: (error) => deps.onError(error),
    }
    this.#listener = Bun.listen<ClientConnection>({
      unix: paths.requests,
      socket: { ...handlers, open: (socket) => this.#accept(socket) },
    })
    this.#sockets = paths.sockets === undefined ? undefined : this.#listenForSockets(paths.sockets)
  }

  get totals(): ProxyTotals {
    return this.#totals
  }

  get sizes(): ProxySizes {
    return {
      clients: this.#connections.size,
      upstreams: this.#pool.size,
      requests: this.#requests.size,
    }
  }

  /** Connections from the sandbox for sockets of its val. */
  get socketCount(): number {
    return this.#sockets?.size ?? 0
  }

  setClient(client: EgressClient): void {
    this.#ownerId = client.ownerId
    this.#client.resolve(client)
  }

  noteRunEnd(run: RunListener): void {
    this.#sockets?.noteRunEnd(run)
  }

  /** Enforces the time limits. */
  sweep(nowMs: number): void {
    for (const request of this.#requests) request.sweep(nowMs)
    for (const connection of this.#connections) connection.sweep(nowMs)
    this.#pool.sweep(nowMs)
    this.#sockets?.sweep(nowMs)
  }

  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    // This removes the socket file, too.
    this.#listener.stop(true)
    this.#sockets?.stop()
    for (const connection of this.#connections) connection.terminate()
    this.#connections.clear()
    this.#requests.clear()
    this.#pool.stop()
    this.#deps.onStop(this)
  }

  #listenForSockets(path: string): SocketListener {
    const { openSocket, admitConnection } = this.#deps
    return new SocketListener(path, {
      ...this.#context,
      // Without a client there is no val yet that could open any.
      admit: () => (this.#ownerId === undefined ? () => {} : admitConnection(this.#ownerId)),
      serveOwn: (client, origin, run) => this.#serveOwn(client, origin, run),
      openLookup: () => this.#openRequest(false),
      openSocket: (ownerId) => {
        const endCount = this.#openRequest(false)
        try {
          const endSocket = openSocket(ownerId)
          return () => {
            endSocket()
            endCount()
          }
        } catch (error) {
          endCount()
          throw error
        }
      },
    })
  }

  /** Serves requests to this server that a val sends over a socket. */
  async #serveOwn(client: Bun.Socket<ClientEvents>, origin: string, run: string): Promise<void> {
    const connection = new ClientConnection(client, this.#deps.limits, (text) =>
      parseOwnHead(text, origin, run),
    )
    client.data = {
      receive: (bytes) => connection.receive(bytes),
      drain: () => connection.drain(),
      ended: () => connection.ended(),
      closed: () => connection.closed(),
    }
    this.#connections.add(connection)
    await this.#serve(connection)
  }

  #accept(socket: Bun.Socket<ClientConnection>): void {
    const { connectionsMax, sparesMax } = this.#deps.limits
    const connection = new ClientConnection(socket, this.#deps.limits)
    socket.data = connection
    if (this.#connections.size >= connectionsMax + sparesMax) this.#closeIdle()
    if (this.#isStopped || this.#connections.size >= connectionsMax + sparesMax)
      return void connection.terminate()
    this.#connections.add(connection)
    void this.#serve(connection)
  }

  /** Makes room for a new connection by closing the oldest idle one. */
  #closeIdle(): void {
    const idle = this.#connections.values().find(({ isIdle }) => isIdle)
    if (!idle) return
    idle.terminate()
    this.#connections.delete(idle)
  }

  async #serve(connection: ClientConnection): Promise<void> {
    try {
      for (;;) {
        const request = await connection.nextRequest()
        if (!request) break
        if (request instanceof Refusal) this.#refuse(connection, request)
        else await this.#forward(request)
      }
    } catch (error) {
      this.#deps.onError(error)
      connection.terminate()
    } finally {
      this.#connections.delete(connection)
    }
  }

  #refuse(connection: ClientConnection, { reason }: Refusal): void {
    this.#countRequest({ isBlocked: true, bytesSent: 0, bytesReceived: 0 })
    connection.refuse(reason)
  }

  async #forward(request: ClientRequest): Promise<void> {
    const proxied = new ProxiedRequest(this.#context, request)
    this.#requests.add(proxied)
    await proxied.run()
    this.#requests.delete(proxied)
  }

  #openRequest(isApi: boolean): () => void {
    const { connectionsMax, requestsPerMinute } = this.#deps.limits
    if (this.#openCount + this.#pool.abandonedCount >= connectionsMax)
      throw new Refusal(429, `the val has ${connectionsMax} outgoing requests open already`)
    try {
      if (!isApi) this.#limiter?.take("")
    } catch {
      throw new Refusal(429, `the val sends more than ${requestsPerMinute} requests a minute`)
    }
    this.#openCount++
    return () => {
      this.#openCount--
    }
  }

  #takeBytes(ownerId: string, bytes: number): void {
    try {
      this.#deps.takeBytes(ownerId, bytes)
    } catch (error) {
      if (!(error instanceof AppError)) this.#deps.onError(error)
      throw error
    }
  }

  #countRequest({ isBlocked, bytesSent, bytesReceived }: CountedRequest): void {
    this.#totals.requests++
    if (isBlocked) this.#totals.blocked++
    this.#totals.bytesSent += bytesSent
    this.#totals.bytesReceived += bytesReceived
  }
}

const handlers: Bun.SocketHandler<ClientConnection, "buffer"> = {
  binaryType: "buffer",
  data: (socket, bytes) => socket.data.receive(bytes),
  drain: (socket) => socket.data.drain(),
  close: (socket) => socket.data.closed(),
  error: (socket) => socket.data.closed(),
}
