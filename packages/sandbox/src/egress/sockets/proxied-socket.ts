import type { SocketReply, SocketRequest } from "@hamlet/guest/protocol"
import { ClientGone } from "@hamlet/http1"
import type { RunListener } from "../../program/runner.ts"
import type { EgressClient } from "../../sandboxes/egress-listener.ts"
import { explainConnect, toTimeout } from "../connect-errors.ts"
import type { ClientEvents, EgressContext, SandboxSocket } from "../egress-context.ts"
import type { RoutePolicy } from "../policy/decide.ts"
import { decideRecords } from "../policy/decide-records.ts"
import { decideLookup, decideSocket } from "../policy/decide-socket.ts"
import { Refusal } from "../policy/refusal.ts"
import { findRunId } from "../proxy/request-record.ts"
import { BytePipe } from "./byte-pipe.ts"
import { readSocketRequest, toReplyFrame } from "./socket-request.ts"
import { type SocketLabel, SocketTraffic } from "./socket-traffic.ts"

type UpstreamSocket = Bun.Socket<ProxiedSocket>
type ConnectRequest = SocketRequest & { readonly kind: "connect" }
type LookupRequest = Exclude<SocketRequest, ConnectRequest>
type State = "head" | "deciding" | "connecting" | "open" | "handed over" | "over"

/** A connection attempt. Bun cannot cancel it. */
interface Attempt {
  readonly address: string
  readonly startedMs: number
  settle(outcome: Refusal | undefined): void
}

/**
 * A connection from the sandbox to tcp.sock: a lookup, or a TCP connection of the program.
 *
 *   head ──▶ deciding ──▶ connecting ──▶ open ──▶ over
 *     │         │             └───────────────────────▲
 *     └─────────┴──▶ handed over ─────────────────────┘      requests to this server
 */
export class ProxiedSocket implements ClientEvents {
  readonly #context: EgressContext
  readonly #client: SandboxSocket
  readonly #aborted = Promise.withResolvers<never>()
  readonly #arrived = Promise.withResolvers<SocketRequest>()
  readonly #transferred = Promise.withResolvers<void>()
  #state: State = "head"
  #head: Buffer = Buffer.alloc(0)
  /** For messages: what the program tries, and the host. */
  #action = "use the socket"
  #target = ""
  #attempt: Attempt | undefined
  #attempts = 0
  #upstream: UpstreamSocket | undefined
  #traffic: SocketTraffic | undefined
  /** From the sandbox, and to it. */
  #up: BytePipe | undefined
  #down: BytePipe | undefined
  #isClientClosed = false
  #isUpstreamClosed = false
  #release: (() => void) | undefined
  /** When a byte was last transferred. */
  #lastByteMs = performance.now()

  constructor(context: EgressContext, client: SandboxSocket) {
    this.#context = context
    this.#client = client
    this.#aborted.promise.catch(() => {})
  }

  /** Serves the connection. Resolves when it is over; never rejects. */
  async run(): Promise<void> {
    let refusal: Refusal | undefined
    try {
      await Promise.race([this.#serve(), this.#aborted.promise])
      this.#client.end()
      this.#upstream?.end()
    } catch (error) {
      refusal = this.#toRefusal(error)
      if (refusal && this.#state !== "open") this.#refuse(refusal)
      else this.#client.terminate()
      this.#upstream?.terminate()
    } finally {
      this.#state = "over"
      this.#record(refusal)
      this.#releaseIfOver()
    }
  }

  /** Bytes from the sandbox. */
  receive(bytes: Buffer): void {
    if (this.#state === "open") this.#transfer(this.#up, bytes, "countSent")
    else if (this.#state === "head") this.#receiveHead(bytes)
    // The guest sends nothing until it has a reply.
    else this.#abort(new ClientGone())
  }

  /** Events of a server whose connection came too late are ignored, here and below. */
  receiveUpstream(upstream: UpstreamSocket, bytes: Buffer): void {
    if (upstream === this.#upstream) this.#transfer(this.#down, bytes, "countReceived")
  }

  /** The sandbox takes more bytes. */
  drain(): void {
    this.#lastByteMs = performance.now()
    this.#down?.drain()
    this.#finishIfOver()
  }

  drainUpstream(upstream: UpstreamSocket): void {
    if (upstream !== this.#upstream) return
    this.#lastByteMs = performance.now()
    this.#up?.drain()
    this.#finishIfOver()
  }

  /** The sandbox sends no more bytes. */
  ended(): void {
    if (this.#state !== "open") return void this.#abort(new ClientGone())
    this.#up?.end()
    this.#finishIfOver()
  }

  endedUpstream(upstream: UpstreamSocket): void {
    if (upstream !== this.#upstream) return
    this.#down?.end()
    this.#finishIfOver()
  }

  closed(): void {
    this.#isClientClosed = true
    this.ended()
  }

  closedUpstream(upstream: UpstreamSocket): void {
    if (upstream === this.#upstream) this.#isUpstreamClosed = true
    this.endedUpstream(upstream)
  }

  /** A server has accepted the connection. Called before any of its bytes are received. */
  opened(upstream: UpstreamSocket, attempt: Attempt): void {
    if (this.#attempt !== attempt || this.#state !== "connecting") return void upstream.terminate()
    upstream.setNoDelay(true)
    upstream.setKeepAlive(true, this.#context.limits.socketProbeMs)
    this.#upstream = upstream
    this.#up = new BytePipe(this.#client, upstream)
    this.#down = new BytePipe(upstream, this.#client)
    this.#state = "open"
    this.#lastByteMs = performance.now()
    this.#reply({ kind: "connected", address: attempt.address })
    attempt.settle(undefined)
  }

  /** Lists what a run has transferred on this socket, because the run ends. */
  noteRunEnd(run: RunListener): void {
    if (this.#state === "open") this.#traffic?.noteRunEnd(run)
  }

  /** Enforces the time limits. */
  sweep(nowMs: number): void {
    const { headMsMax, connectMsMax, socketIdleMsMax } = this.#context.limits
    const idleMs = nowMs - this.#lastByteMs
    if (this.#state === "open") {
      if (this.#isClientClosed && idleMs > headMsMax) this.#abort(new ClientGone())
      if (idleMs > socketIdleMsMax)
        this.#abort(new Refusal(504, `no bytes were transferred for ${socketIdleMsMax / 1000} s`))
    } else if (this.#state === "head" && idleMs > headMsMax) this.#abort(new ClientGone())
    else if (this.#attempt && nowMs - this.#attempt.startedMs > connectMsMax)
      this.#attempt.settle(toTimeout(this.#target))
  }

  stop(): void {
    this.#abort(new ClientGone())
  }

  #receiveHead(bytes: Buffer): void {
    this.#head = Buffer.concat([this.#head, bytes])
    const read = readSocketRequest(this.#head)
    if (read.kind === "incomplete") return
    this.#head = Buffer.alloc(0)
    this.#state = "deciding"
    if (read.kind === "request") this.#arrived.resolve(read.request)
    else this.#abort(new Refusal(400, read.reason))
  }

  async #serve(): Promise<void> {
    const request = await this.#arrived.promise
    const client = await this.#context.client
    const { run } = client.findRun(findRunId(request.run, client.egressKey))
    if (request.kind === "connect") await this.#connect(client, run, request)
    else await this.#lookUp(client, run, request)
  }

  async #lookUp(
    client: EgressClient,
    run: RunListener | undefined,
    request: LookupRequest,
  ): Promise<void> {
    const { host } = request
    const isAddress = request.kind === "lookup"
    this.#action = isAddress ? `look up "${host}"` : `look up ${request.type} of "${host}"`
    const url = isAddress ? `dns://${host}` : `dns://${host}?type=${request.type}`
    this.#traffic = new SocketTraffic(this.#context, client, { method: "LOOKUP", url }, run)
    this.#traffic.start()
    this.#release = this.#context.openRequest(false)
    const reply = await toLookupReply(this.#context.policy, client.ownerId, request)
    this.#assertActive()
    if (reply instanceof Refusal) throw reply
    // Only what is refused is listed: the connection that follows is listed by itself.
    this.#traffic = undefined
    this.#reply(reply)
  }

  async #connect(
    client: EgressClient,
    run: RunListener | undefined,
    request: ConnectRequest,
  ): Promise<void> {
    this.#target = toTargetText(request)
    this.#action = `connect to "${this.#target}"`
    const { host, port } = request
    const label: SocketLabel = {
      method: "CONNECT",
      url: `tcp://${this.#target}`,
      peer: { host, port },
    }
    this.#traffic = new SocketTraffic(this.#context, client, label, run)
    this.#traffic.start()
    this.#release = this.#context.openSocket(client.ownerId)
    const route = await decideSocket(this.#context.policy, client.ownerId, request)
    this.#assertActive()
    if (route instanceof Refusal) throw route
    if (route.kind === "own") return await this.#serveOwn(route.origin, request.run)
    this.#warnAboutSecrets(client, run, request)
    this.#state = "connecting"
    await this.#tryAddresses(route.addresses, request.port)
    await this.#transferred.promise
  }

  /** The requests that follow are forwarded, and listed, one by one. */
  async #serveOwn(origin: string, run: string): Promise<void> {
    this.#traffic = undefined
    this.#state = "handed over"
    this.#reply({ kind: "connected", address: "127.0.0.1" })
    await this.#context.serveOwn(this.#client, origin, run)
  }

  /** Tries one address after the other until a server accepts the connection. */
  async #tryAddresses(addresses: readonly string[], port: number): Promise<void> {
    let refusal: Refusal | undefined = new Refusal(502, "it has no address")
    for (const address of addresses) {
      refusal = await this.#tryAddress(address, port)
      this.#assertActive()
      if (!refusal) return
    }
    throw refusal
  }

  #tryAddress(address: string, port: number): Promise<Refusal | undefined> {
    return new Promise((resolve) => {
      const settle = (outcome: Refusal | undefined) => {
        if (this.#attempt === attempt) this.#attempt = undefined
        resolve(outcome)
      }
      const attempt: Attempt = { address, startedMs: performance.now(), settle }
      const onSettled = () => {
        this.#attempts--
        this.#releaseIfOver()
      }
      this.#attempt = attempt
      this.#attempts++
      Bun.connect<ProxiedSocket>({
        hostname: address,
        port,
        allowHalfOpen: true,
        data: this,
        socket: { ...upstreamHandlers, open: (socket) => socket.data.opened(socket, attempt) },
      })
        .catch((error: unknown) => settle(explainConnect(error, this.#target)))
        .finally(onSettled)
    })
  }

  #transfer(pipe: BytePipe | undefined, bytes: Buffer, count: "countSent" | "countReceived"): void {
    this.#lastByteMs = performance.now()
    try {
      this.#traffic?.[count](bytes.length)
      pipe?.push(bytes)
    } catch (error) {
      this.#abort(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** A side that is closed takes no more bytes: only what it has sent has to arrive. */
  #finishIfOver(): void {
    const isSent = this.#up?.isOver === true
    const isReceived = this.#down?.isOver === true
    if ((isSent && (isReceived || this.#isClientClosed)) || (isReceived && this.#isUpstreamClosed))
      this.#transferred.resolve()
  }

  #abort(reason: Error): void {
    if (this.#state !== "over") this.#aborted.reject(reason)
  }

  #refuse(refusal: Refusal): void {
    const message = `Cannot ${this.#action}: ${refusal.reason}`
    this.#reply({ kind: "refused", code: refusal.code, message })
    this.#client.end()
  }

  #reply(reply: SocketReply): void {
    this.#client.write(toReplyFrame(reply))
  }

  /** Undefined when the sandbox has closed the connection, which is not a refusal. */
  #toRefusal(error: unknown): Refusal | undefined {
    if (error instanceof Refusal) return error
    if (error instanceof ClientGone) return undefined
    this.#context.onError(error)
    return new Refusal(502, "the server has failed")
  }

  #record(refusal: Refusal | undefined): void {
    try {
      this.#traffic?.end(refusal)
    } catch (error) {
      this.#context.onError(error)
    }
  }

  /** An attempt that cannot be cancelled counts until it has failed. */
  #releaseIfOver(): void {
    if (this.#state !== "over" || this.#attempts > 0) return
    this.#release?.()
    this.#release = undefined
  }

  /** TLS ends in the sandbox, so a placeholder that is sent here stays one. */
  #warnAboutSecrets(
    client: EgressClient,
    run: RunListener | undefined,
    { host, port }: ConnectRequest,
  ): void {
    const hosts = [`${host}:${port}`, ...(port === 443 || port === 80 ? [host] : [])]
    const secret = client.substitutions.find((one) => one.hosts.some((it) => hosts.includes(it)))
    if (!secret) return
    const message = `"${secret.placeholder}" is not replaced in what the program sends to ${this.#target} over a socket: use fetch`
    run?.log({ at: new Date().toISOString(), level: "warn", message })
  }

  /** To be called after every await: the connection may have ended meanwhile. */
  #assertActive(): void {
    if (this.#state === "over") throw new ClientGone()
  }
}

async function toLookupReply(
  policy: RoutePolicy,
  ownerId: string,
  request: LookupRequest,
): Promise<SocketReply | Refusal> {
  if (request.kind === "lookup") {
    const addresses = await decideLookup(policy, ownerId, request.host)
    return addresses instanceof Refusal ? addresses : { kind: "found", addresses }
  }
  const records = await decideRecords(policy, ownerId, request)
  return records instanceof Refusal ? records : { kind: "records", records }
}

function toTargetText({ host, port }: ConnectRequest): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]:${port}` : `${host}:${port}`
}

const upstreamHandlers: Bun.SocketHandler<ProxiedSocket, "buffer"> = {
  binaryType: "buffer",
  data: (socket, bytes) => socket.data.receiveUpstream(socket, bytes),
  drain: (socket) => socket.data.drainUpstream(socket),
  end: (socket) => socket.data.endedUpstream(socket),
  close: (socket) => socket.data.closedUpstream(socket),
  error: (socket) => socket.data.closedUpstream(socket),
  // The promise of `connect` rejects with the same error.
  connectError() {},
}

/** The handlers of connections from the sandbox. */
export const clientHandlers: Bun.SocketHandler<ClientEvents, "buffer"> = {
  binaryType: "buffer",
  data: (socket, bytes) => socket.data.receive(bytes),
  drain: (socket) => socket.data.drain(),
  end: (socket) => socket.data.ended(),
  close: (socket) => socket.data.closed(),
  error: (socket) => socket.data.closed(),
}
