import { BadRequest, ClientConnection, type ClientRequest, ConnectionPool } from "@hamlet/http1"
import { minuteMs, Refused, TokenBucket } from "@hamlet/kit"
import type { RunListener } from "../../program/runner.ts"
import type { EgressClient, EgressListener, EgressPaths } from "../../sandboxes/egress-listener.ts"
import type { ClientEvents, EgressContext, SandboxSocket } from "../egress-context.ts"
import type { EgressLimits } from "../egress-limits.ts"
import { PacedListener } from "../paced-listener.ts"
import type { RoutePolicy } from "../policy/decide.ts"
import { Refusal, toRefusalResponse } from "../policy/refusal.ts"
import { clientHandlers, ProxiedSocket } from "../sockets/proxied-socket.ts"
import { parseOwnHead } from "./message-heads.ts"
import { ProxiedRequest } from "./proxied-request.ts"

/** The egress of all sandboxes, which counts what an account uses in all of them. */
export interface AccountEgress {
  readonly limits: EgressLimits
  takeBytes(ownerId: string, bytes: number): void
  /** Counts one more socket of the account, or throws a Refusal. */
  openSocket(ownerId: string): () => void
  /** Counts one more file that a connection of the account takes; undefined at the limit. */
  openFile(ownerId: string): (() => void) | undefined
  onError(error: unknown): void
  noteStop(listener: ProxyListener): void
}

/** The number of things that are open. */
export interface ProxySizes {
  /** Connections from the sandbox. */
  readonly clients: number
  /** Connections to other servers. */
  readonly upstreams: number
  readonly requests: number
}

/**
 * Listens at the Unix sockets of one sandbox, and forwards the requests and the sockets that arrive
 * there.
 */
export class ProxyListener implements EgressListener, EgressContext {
  readonly limits: EgressLimits
  readonly policy: RoutePolicy
  readonly pool: ConnectionPool
  readonly client: Promise<EgressClient>
  readonly #egress: AccountEgress
  readonly #listener: PacedListener<ClientConnection>
  /** For the TCP connections of the program. */
  readonly #socketListener: PacedListener<ClientEvents> | undefined
  readonly #sockets = new Set<ProxiedSocket>()
  readonly #rate: TokenBucket | undefined
  /** Connections from the sandbox, each with the function that ends the count of its file. */
  readonly #connections = new Map<ClientConnection, () => void>()
  /** Connections that the sandbox may keep: they are idle, or their response is being sent. */
  readonly #kept = new Set<ClientConnection>()
  readonly #requests = new Set<ProxiedRequest>()
  readonly #client = Promise.withResolvers<EgressClient>()
  #ownerId: string | undefined
  #openCount = 0
  #isStopped = false

  constructor(paths: EgressPaths, egress: AccountEgress, policy: RoutePolicy) {
    const { limits } = egress
    const { requestsPerMinute } = limits
    this.limits = limits
    this.policy = policy
    this.pool = new ConnectionPool(limits, { acceptsHttp10: true })
    this.client = this.#client.promise
    this.#egress = egress
    this.#rate = requestsPerMinute
      ? new TokenBucket(requestsPerMinute, minuteMs, Date.now())
      : undefined
    this.#listener = new PacedListener(paths.requests, limits, handlers, (socket) =>
      this.#accept(socket),
    )
    if (paths.sockets !== undefined)
      this.#socketListener = new PacedListener(paths.sockets, limits, clientHandlers, (socket) =>
        this.#acceptSocket(socket),
      )
  }

  get sizes(): ProxySizes {
    return {
      clients: this.#connections.size,
      upstreams: this.pool.size,
      requests: this.#requests.size,
    }
  }

  /** Connections from the sandbox for sockets of its program. */
  get socketCount(): number {
    return this.#sockets.size
  }

  /** Undefined until the listener knows its client. */
  get ownerId(): string | undefined {
    return this.#ownerId
  }

  setClient(client: EgressClient): void {
    this.#ownerId = client.ownerId
    this.#client.resolve(client)
  }

  noteRunEnd(run: RunListener): void {
    for (const socket of this.#sockets) socket.noteRunEnd(run)
  }

  /** Enforces the time limits. */
  sweep(nowMs: number): void {
    for (const request of this.#requests) request.sweep(nowMs)
    for (const connection of this.#connections.keys()) connection.sweep(nowMs)
    this.pool.sweep(nowMs)
    this.#listener.sweep(nowMs)
    for (const socket of this.#sockets) socket.sweep(nowMs)
    this.#socketListener?.sweep(nowMs)
  }

  /** Closes a connection that was used and is idle, if there is one. */
  closeIdle(): boolean {
    return this.pool.closeIdle() || this.#endFirst(this.#kept.values())
  }

  /** Breaks off the response, of those whose run has ended, that has been idle for longest. */
  endBackgroundRequest(): boolean {
    let longest: ProxiedRequest | undefined
    for (const request of this.#requests)
      if (request.isInBackground && !(longest && longest.lastByteMs <= request.lastByteMs))
        longest = request
    if (!longest) return false
    longest.end()
    this.#forget(longest.request.connection)
    return true
  }

  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#listener.stop()
    this.#socketListener?.stop()
    for (const socket of this.#sockets) socket.stop()
    for (const connection of [...this.#connections.keys()]) this.#end(connection)
    this.#requests.clear()
    this.pool.stop()
    this.#egress.noteStop(this)
  }

  openSocket(ownerId: string): () => void {
    using undo = new DisposableStack()
    undo.defer(this.openRequest(false))
    undo.defer(this.#egress.openSocket(ownerId))
    undo.defer(this.openUpstream())
    const ends = undo.move()
    return () => ends.dispose()
  }

  async serveOwn(client: SandboxSocket, origin: string, run: string): Promise<void> {
    const connection = new ClientConnection(client, this.limits, (text) =>
      parseOwnHead(text, origin, run),
    )
    client.data = connection
    // Its file was counted when the socket was accepted.
    this.#connections.set(connection, () => {})
    await this.#serve(connection)
  }

  #accept(socket: Bun.Socket<ClientConnection>): void {
    const { connectionsMax, sparesMax } = this.limits
    const connection = new ClientConnection(socket, this.limits)
    socket.data = connection
    // Makes room by closing the oldest idle one.
    if (this.#connections.size >= connectionsMax + sparesMax)
      this.#endFirst(this.#connections.keys())
    const isFull = this.#isStopped || this.#connections.size >= connectionsMax + sparesMax
    const endFile = isFull ? undefined : this.#openClientFile()
    if (!endFile) return void connection.terminate()
    this.#connections.set(connection, endFile)
    void this.#serve(connection)
  }

  #acceptSocket(client: SandboxSocket): void {
    const { connectionsMax, sparesMax } = this.limits
    const socket = new ProxiedSocket(this, client)
    client.data = socket
    const isFull = this.#isStopped || this.#sockets.size >= connectionsMax + sparesMax
    const endCount = isFull ? undefined : this.openFile()
    if (!endCount) return void client.terminate()
    this.#sockets.add(socket)
    void socket.run().then(() => {
      this.#sockets.delete(socket)
      endCount()
    })
  }

  #openClientFile(): (() => void) | undefined {
    const isOneOfFew = this.#connections.size < this.limits.connectionsMin
    return this.openFile() ?? (isOneOfFew ? () => {} : undefined)
  }

  /** Without a client there is no program yet that could open anything. */
  openFile(): (() => void) | undefined {
    return this.#ownerId === undefined ? () => {} : this.#egress.openFile(this.#ownerId)
  }

  openUpstream(): () => void {
    const endFile = this.openFile()
    if (!endFile)
      throw new Refusal(429, "the programs of the account have too many connections open already")
    return endFile
  }

  keep(connection: ClientConnection): boolean {
    if (this.#kept.size >= this.limits.keptMax) return false
    this.#kept.add(connection)
    return true
  }

  /** Closes the first idle one of these. */
  #endFirst(connections: IteratorObject<ClientConnection>): boolean {
    const idle = connections.find(({ isIdle }) => isIdle)
    if (idle) this.#end(idle)
    return idle !== undefined
  }

  #end(connection: ClientConnection): void {
    connection.terminate()
    this.#forget(connection)
  }

  #forget(connection: ClientConnection): void {
    this.#connections.get(connection)?.()
    this.#connections.delete(connection)
    this.#kept.delete(connection)
  }

  async #serve(connection: ClientConnection): Promise<void> {
    try {
      for (;;) {
        const request = await connection.nextRequest()
        if (!request) break
        this.#kept.delete(connection)
        if (request instanceof BadRequest) connection.refuse(toBadRequestResponse(request))
        else await this.#forward(request)
      }
    } catch (error) {
      this.onError(error)
      connection.terminate()
    } finally {
      this.#forget(connection)
    }
  }

  async #forward(request: ClientRequest): Promise<void> {
    const proxied = new ProxiedRequest(this, request)
    this.#requests.add(proxied)
    await proxied.run()
    this.#requests.delete(proxied)
  }

  openRequest(isApi: boolean): () => void {
    const { connectionsMax, requestsPerMinute } = this.limits
    const isFull = this.#openCount + this.pool.abandonedCount >= connectionsMax
    if (isFull && !this.endBackgroundRequest())
      throw new Refusal(429, `the program has ${connectionsMax} outgoing requests open already`)
    if (!isApi && this.#rate?.take(1, Date.now()) === false)
      throw new Refusal(429, `the program sends more than ${requestsPerMinute} requests a minute`)
    this.#openCount++
    return () => {
      this.#openCount--
    }
  }

  takeBytes(ownerId: string, bytes: number): void {
    try {
      this.#egress.takeBytes(ownerId, bytes)
    } catch (error) {
      if (!(error instanceof Refused)) this.onError(error)
      throw error
    }
  }

  onError(error: unknown): void {
    this.#egress.onError(error)
  }
}

const handlers: Bun.SocketHandler<ClientConnection, "buffer"> = {
  binaryType: "buffer",
  data: (socket, bytes) => socket.data.receive(bytes),
  drain: (socket) => socket.data.drain(),
  close: (socket) => socket.data.closed(),
  error: (socket) => socket.data.closed(),
}

function toBadRequestResponse({ message }: BadRequest): Uint8Array {
  const sentence = `Cannot read the request: ${message}`
  return toRefusalResponse(400, sentence, { isKept: false, isHead: false })
}
