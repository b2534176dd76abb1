import { runHeader } from "@hamlet/guest/protocol"
import type { HeaderList, RunListener } from "../../../domain/runs/runner.ts"
import { hasNoBody } from "../../http1/write-request.ts"
import type { EgressClient } from "../../sandbox/egress-listener.ts"
import type { EgressLimits } from "../egress-limits.ts"
import { type ApiRoute, type ConnectRoute, decide, type RoutePolicy } from "../policy/decide.ts"
import { isWebSocketUpgrade } from "../policy/forwarded-headers.ts"
import { Refusal, toRefusalResponse, toRefusalSentence } from "../policy/refusal.ts"
import { parseTarget, type Target } from "../policy/target.ts"
import { ByteMeter } from "./byte-meter.ts"
import { callApi } from "./call-api.ts"
import { ClientGone, type ClientRequest } from "./client-connection.ts"
import { toClientHead, toUpstreamHead, type UpstreamHead } from "./message-heads.ts"
import { maskOutgoingRequest } from "./request-record.ts"
import {
  type PartReader,
  StaleConnection,
  UpstreamConnection,
  type UpstreamRequest,
  type UpstreamResponse,
} from "./upstream-connection.ts"
import type { UpstreamPool } from "./upstream-pool.ts"

/** What the requests of one sandbox share. */
export interface ProxyContext {
  readonly limits: EgressLimits
  readonly policy: RoutePolicy
  readonly pool: UpstreamPool
  /** The process in the sandbox. Pending until it is known. */
  readonly client: Promise<EgressClient>
  /**
   * Counts one more open request, or throws a Refusal. The API has rate limits of its own. Returns
   * a function that ends the count.
   */
  openRequest(isApi: boolean): () => void
  takeBytes(ownerId: string, bytes: number): void
  countRequest(request: CountedRequest): void
  onError(error: unknown): void
}

/** What is counted of a request when it has ended. */
export interface CountedRequest {
  readonly isBlocked: boolean
  readonly bytesSent: number
  readonly bytesReceived: number
}

/** The run that sends the request, as the guest has named it, and its process. */
interface Sender {
  readonly client: EgressClient
  readonly run: RunListener | undefined
  readonly depth: number
}

const unexpected = new Refusal(502, "the server has failed")

/**
 * One request from its head to the last byte of its response.
 *
 *   deciding ──▶ connecting ──▶ waiting ──▶ responding ──▶ over      a WebSocket stays in "responding"
 *       └────────────┴─────────────┴────────────┴─────────▲
 */
export class ProxiedRequest {
  readonly #context: ProxyContext
  readonly #request: ClientRequest
  readonly #at = Date.now()
  readonly #startedMs = performance.now()
  #phase: "deciding" | "connecting" | "waiting" | "responding" | "over" = "deciding"
  #sender: Sender | undefined
  #target: Target | undefined
  #meter: ByteMeter | undefined
  #closeRequest: (() => void) | undefined
  #connecting: UpstreamConnection | undefined
  #upstream: UpstreamRequest | undefined
  /** Whether anything may have left the server. */
  #isForwarded = false
  #isTunnel = false
  #status: number | null = null
  /** When a byte was last transferred. */
  #lastByteMs = this.#startedMs

  constructor(context: ProxyContext, request: ClientRequest) {
    this.#context = context
    this.#request = request
  }

  /** Forwards the request and its response. Resolves when both are over; never rejects. */
  async run(): Promise<void> {
    const { connection, aborted } = this.#request
    let refusal: Refusal | undefined
    try {
      await Promise.race([this.#forward(), aborted])
      connection.finish()
    } catch (error) {
      refusal = this.#toRefusal(error)
      if (refusal) this.#refuse(refusal)
    } finally {
      this.#phase = "over"
      this.#connecting?.stop()
      this.#upstream?.abort()
      this.#record(refusal)
    }
  }

  /** Enforces the time limits. */
  sweep(nowMs: number): void {
    const { msMax, connectMsMax, responseMsMax, idleMsMax, tunnelIdleMsMax } = this.#context.limits
    const idleMs = nowMs - this.#lastByteMs
    const refuse = (reason: string) => this.#request.abort(new Refusal(504, reason))
    const refuseIdle = (ms: number) => refuse(`no bytes were transferred for ${ms / 1000} s`)
    if (this.#isTunnel) {
      if (idleMs > tunnelIdleMsMax) refuseIdle(tunnelIdleMsMax)
    } else if (nowMs - this.#startedMs > msMax) refuse(`it took longer than ${msMax / 1000} s`)
    else if (this.#phase === "connecting") {
      const connecting = this.#connecting
      // The next address is tried.
      if (connecting && nowMs - connecting.startedMs > connectMsMax)
        connecting.stop(new Refusal(504, `${this.#host} does not respond`))
    } else if (this.#phase === "waiting" && this.#request.body.hasEnded) {
      if (idleMs > responseMsMax)
        refuse(`${this.#host} has not responded for ${responseMsMax / 1000} s`)
    } else if (this.#phase !== "deciding" && idleMs > idleMsMax) refuseIdle(idleMsMax)
  }

  /** Decides about the request, sends it and writes the response. */
  async #forward(): Promise<void> {
    const { head } = this.#request
    const client = await this.#context.client
    this.#assertActive()
    const { run, depth } = client.findRun(findRunId(head.headers, client.egressKey))
    this.#sender = { client, run, depth }
    const target = parseTarget(head.target)
    if (target instanceof Refusal) throw target
    this.#target = target
    this.#count(client, target)
    const { ownerId, substitutions } = client
    const route = await decide(
      this.#context.policy,
      { ownerId, depth, substitutions },
      { target, headers: head.headers },
    )
    this.#assertActive()
    if (route instanceof Refusal) throw route
    this.#isForwarded = true
    for (const warning of route.warnings) this.#warn(warning)
    const response =
      route.kind === "api" ? await this.#callApi(route, target) : await this.#send(route, target)
    this.#assertActive()
    await this.#respond(response)
  }

  /** Counts the request against the limits of the sandbox and of the account. */
  #count(client: EgressClient, target: Target): void {
    const { limits, policy, takeBytes, openRequest } = this.#context
    const isApi = policy.own.isApiHost(target.host)
    this.#closeRequest = openRequest(isApi)
    // Calls to the API are not outgoing traffic, and the API counts them.
    const meter = new ByteMeter({
      limits,
      takeBytes: isApi ? undefined : (bytes) => takeBytes(client.ownerId, bytes),
    })
    this.#meter = meter
    meter.start(this.#request.head.bytes)
  }

  #callApi({ headers }: ApiRoute, { href, host }: Target): Promise<UpstreamResponse> {
    const { policy, onError } = this.#context
    const { head, body, signal } = this.#request
    const accountId = this.#sender?.client.ownerId ?? ""
    this.#phase = "waiting"
    return callApi(
      { fetchApi: (request) => policy.own.fetchApi(request, accountId), onError },
      {
        method: head.method,
        url: href,
        headers: [["host", host], ...headers],
        body: head.framing === 0 ? null : (this.#countSent(body.takeWhole()) ?? this.#readBody()),
        signal,
      },
    )
  }

  async #send(route: ConnectRoute, target: Target): Promise<UpstreamResponse> {
    const head = toUpstreamHead(this.#request.head, target, route.headers)
    if (!head) throw new Refusal(400, "its headers contain a character that cannot be sent")
    const pooled = this.#context.pool.take(route.key, route.addresses, this.#isRepeatable)
    try {
      return await this.#sendOn(pooled ?? (await this.#connect(route)), head)
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error
      // It is safe to send a request twice only if it changes nothing, and if its body was not
      // consumed. A new connection cannot be stale, so this happens once.
      if (!this.#isRepeatable) throw new Refusal(502, `${this.#host} has closed the connection`)
      this.#assertActive()
      return await this.#sendOn(await this.#connect(route), head)
    }
  }

  #sendOn(connection: UpstreamConnection, head: UpstreamHead): Promise<UpstreamResponse> {
    if (!this.#isActive) connection.stop()
    this.#assertActive()
    const upstream = connection.send(head)
    this.#phase = "waiting"
    this.#lastByteMs = performance.now()
    this.#upstream = upstream
    if (head.hasBody) this.#startUpload(upstream)
    return upstream.response
  }

  /** Tries one address after the other until a server accepts the connection. */
  async #connect({ addresses, key, port, host, tls }: ConnectRoute): Promise<UpstreamConnection> {
    this.#phase = "connecting"
    let outcome: UpstreamConnection | Refusal = new Refusal(502, "it has no address")
    for (const address of addresses) {
      const connection = this.#context.pool.connect({ key, address, port, host, tls })
      this.#connecting = connection
      outcome = await connection.connected
      this.#connecting = undefined
      if (outcome instanceof UpstreamConnection || connection.hasOpened || !this.#isActive) break
    }
    if (outcome instanceof Refusal) throw outcome
    return outcome
  }

  /** A failure aborts the request, so it is reported there. */
  #startUpload(upstream: UpstreamRequest): void {
    this.#upload(upstream).catch(() => {})
  }

  /** Sends the body while the response is awaited and forwarded. */
  async #upload(upstream: UpstreamRequest): Promise<void> {
    const body = this.#readBody()
    for (let part = await body.next(); part; part = await body.next()) {
      upstream.write(part)
      await upstream.drained()
      this.#lastByteMs = performance.now()
    }
    upstream.end()
  }

  /** Reads and counts the body of the request. A failure aborts the request. */
  #readBody(): PartReader {
    const { body } = this.#request
    return {
      next: async () => {
        try {
          const part = await body.next()
          this.#assertActive()
          return this.#countSent(part)
        } catch (error) {
          if (this.#isActive) this.#request.abort(toError(error))
          throw error
        }
      },
    }
  }

  #countSent(part: Uint8Array | undefined): Uint8Array | undefined {
    this.#lastByteMs = performance.now()
    if (part) this.#meter?.countSent(part.length)
    return part
  }

  /** Writes the response, part by part as fast as the sandbox reads it. */
  async #respond({ head, body }: UpstreamResponse): Promise<void> {
    const { connection, head: requestHead } = this.#request
    const isTunnel = head.status === 101
    if (isTunnel && !isWebSocketUpgrade(head.headers))
      throw new Refusal(502, `${this.#host} did not respond with a WebSocket`)
    const { text, isChunked } = toClientHead(head, requestHead.method)
    const whole = body instanceof Uint8Array ? body : undefined
    this.#countReceived(text.length + (whole?.length ?? 0))
    this.#phase = "responding"
    this.#status = head.status
    this.#isTunnel = isTunnel
    connection.write(text)
    if (whole) connection.write(whole)
    if (isTunnel) this.#openTunnel()
    if (body === null || body instanceof Uint8Array) return
    for (let part = await body.next(); part; part = await body.next()) {
      this.#assertActive()
      this.#countReceived(part.length)
      if (isChunked) connection.write(`${part.length.toString(16)}\r\n`)
      connection.write(part)
      if (isChunked) connection.write("\r\n")
      await connection.drained()
      this.#lastByteMs = performance.now()
    }
    this.#assertActive()
    if (isChunked) connection.write("0\r\n\r\n")
  }

  #openTunnel(): void {
    this.#request.connection.openTunnel()
    if (this.#upstream) this.#startUpload(this.#upstream)
  }

  #countReceived(bytes: number): void {
    this.#lastByteMs = performance.now()
    this.#meter?.countReceived(bytes)
  }

  /** Responds with the reason; in the middle of a response, closes the connection. */
  #refuse(refusal: Refusal): void {
    const { connection, head } = this.#request
    if (this.#phase === "responding") return void connection.terminate()
    const { messageUrlCharsMax } = this.#context.limits
    const sentence = toRefusalSentence(this.#url, refusal.reason, messageUrlCharsMax)
    const { isKept } = head
    connection.respond(
      toRefusalResponse(refusal.status, sentence, { isKept, isHead: head.method === "HEAD" }),
    )
  }

  /** Undefined when the sandbox has closed the connection, which is not a refusal. */
  #toRefusal(error: unknown): Refusal | undefined {
    if (error instanceof Refusal) return error
    if (error instanceof ClientGone) return undefined
    this.#context.onError(error)
    return unexpected
  }

  /** Releases what the request has taken, and adds it to the list of its run. */
  #record(refusal: Refusal | undefined): void {
    const { limits, countRequest, onError } = this.#context
    try {
      this.#meter?.end()
      this.#closeRequest?.()
      if (!this.#sender) return
      const { client, run } = this.#sender
      const bytesSent = this.#isForwarded ? (this.#meter?.sent ?? 0) : 0
      const bytesReceived = this.#isForwarded ? (this.#meter?.received ?? 0) : 0
      countRequest({ isBlocked: refusal !== undefined, bytesSent, bytesReceived })
      run?.sent(
        maskOutgoingRequest(
          {
            at: this.#at,
            method: this.#request.head.method,
            url: this.#url,
            status: this.#status,
            blocked: refusal?.reason ?? null,
            bytesSent,
            bytesReceived,
            durationMs: Math.round(performance.now() - this.#startedMs),
          },
          (text) => client.mask(text),
          limits.listedUrlCharsMax,
        ),
      )
    } catch (error) {
      onError(error)
    }
  }

  #warn(message: string): void {
    const { client, run } = this.#sender as Sender
    run?.log({ at: new Date().toISOString(), level: "warn", message: client.mask(message) })
  }

  /** To be called after every await: the request may have ended meanwhile. */
  #assertActive(): void {
    this.#request.throwIfAborted()
    if (!this.#isActive) throw new ClientGone()
  }

  get #isActive(): boolean {
    return this.#phase !== "over" && !this.#request.isAborted
  }

  get #url(): string {
    return this.#target?.href ?? this.#request.head.target
  }

  /** For messages. */
  get #host(): string {
    return this.#target?.host ?? "it"
  }

  get #isRepeatable(): boolean {
    const { framing, method } = this.#request.head
    return framing === 0 && (hasNoBody(method) || method === "OPTIONS")
  }
}

/** The run that the guest has named. The val can add the header too, but does not know the key. */
function findRunId(headers: HeaderList, egressKey: string): string | undefined {
  const prefix = `${egressKey} `
  const header = headers.find(([name, value]) => name === runHeader && value.startsWith(prefix))
  return header?.[1].slice(prefix.length)
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
