import {
  BadRequest,
  ClientGone,
  type ClientRequest,
  type Destination,
  type Exchange,
  type HeaderList,
  Http1Connection,
  Http1Failure,
  isRepeatable,
  type PartReader,
  type ReceivedResponse,
  type WrittenRequest,
} from "@hamlet/http1"
import { PieceRate, type TraceSpan } from "@hamlet/kit"
import type { RunListener } from "../../program/runner.ts"
import type { EgressClient } from "../../sandboxes/egress-listener.ts"
import { explainUpstreamFailure } from "../connect-errors.ts"
import type { EgressContext } from "../egress-context.ts"
import { type ConnectRoute, decide } from "../policy/decide.ts"
import { isWebSocketUpgrade } from "../policy/forwarded-headers.ts"
import { Refusal, toRefusalResponse, toRefusalSentence } from "../policy/refusal.ts"
import { parseTarget, type Target } from "../policy/target.ts"
import { ByteMeter } from "./byte-meter.ts"
import { callApi } from "./call-api.ts"
import { toClientHead, toUpstreamRequest } from "./message-heads.ts"
import { findNamedRun, recordRequest } from "./request-record.ts"
import { continueTrace, endSpan, startSpan } from "./request-span.ts"

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
  readonly #context: EgressContext
  readonly request: ClientRequest
  readonly #at = Date.now()
  readonly #startedMs = performance.now()
  #phase: "deciding" | "connecting" | "waiting" | "responding" | "over" = "deciding"
  #sender: Sender | undefined
  #target: Target | undefined
  #meter: ByteMeter | undefined
  #closeRequest: (() => void) | undefined
  #connecting: Http1Connection | undefined
  #upstream: Exchange | undefined
  /** Whether anything may have left the server. */
  #isForwarded = false
  #isTunnel = false
  readonly #rates = { sent: new PieceRate(), received: new PieceRate() }
  #span: TraceSpan | undefined
  #status: number | null = null
  /** When a byte was last transferred. */
  lastByteMs = this.#startedMs

  constructor(context: EgressContext, request: ClientRequest) {
    this.#context = context
    this.request = request
  }

  /** Forwards the request and its response. Resolves when both are over; never rejects. */
  async run(): Promise<void> {
    const { connection } = this.request
    let refusal: Refusal | undefined
    try {
      await this.request.untilAborted(this.#forward())
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

  /** Whether it sends a response, not a WebSocket, to a run that has ended. */
  get isInBackground(): boolean {
    if (this.#phase !== "responding" || this.#isTunnel || !this.#isActive) return false
    const { client, run } = this.#sender as Sender
    return run !== undefined && client.findSocketRun(run) !== run
  }

  /** Breaks it off and closes its connections, to make room for another request. */
  end(): void {
    this.request.abort(new Refusal(429, "its run has ended, and others needed its place"))
    this.#upstream?.abort()
    this.request.connection.terminate()
  }

  /** Enforces the time limits. */
  sweep(nowMs: number): void {
    const { msMax, backgroundMsMax, connectMsMax, responseMsMax, idleMsMax, tunnelIdleMsMax } =
      this.#context.limits
    const idleMs = nowMs - this.lastByteMs
    const refuse = (reason: string) => this.request.abort(new Refusal(504, reason))
    const refuseIdle = (ms: number) => refuse(`no bytes were transferred for ${ms / 1000} s`)
    if (this.#isTunnel) {
      if (idleMs > tunnelIdleMsMax) refuseIdle(tunnelIdleMsMax)
    } else if (nowMs - this.#startedMs > msMax) refuse(`it took longer than ${msMax / 1000} s`)
    else if (this.isInBackground && nowMs - this.#startedMs > backgroundMsMax)
      refuse("its run has ended, and the time that a run may take")
    else if (this.#phase === "connecting") {
      const connecting = this.#connecting
      // The next address is tried.
      if (connecting && nowMs - connecting.startedMs > connectMsMax)
        connecting.stop(new Http1Failure("slow", "it could not be opened in time"))
    } else if (this.#phase === "waiting" && this.request.body.hasEnded) {
      if (idleMs > responseMsMax)
        refuse(`${this.#host} has not responded for ${responseMsMax / 1000} s`)
    } else if (this.#phase !== "deciding" && idleMs > idleMsMax) refuseIdle(idleMsMax)
  }

  /** Decides about the request, sends it and writes the response. */
  async #forward(): Promise<void> {
    const { head } = this.request
    const client = await this.#context.client
    this.#assertActive()
    const { run, depth } = client.findRun(findNamedRun(head.headers, client.egressKey))
    this.#sender = { client, run, depth }
    this.#span = run?.span && startSpan(run.span, head)
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
    const headers = this.#span ? continueTrace(route.headers, this.#span) : route.headers
    const response =
      route.kind === "api"
        ? await this.#callApi(headers, target)
        : await this.#send(route, headers, target)
    this.#assertActive()
    await this.#respond(response)
  }

  /** Counts the request against the limits of the sandbox and of the account. */
  #count(client: EgressClient, target: Target): void {
    const context = this.#context
    const isApi = context.policy.own.isApiHost(target.host)
    this.#closeRequest = context.openRequest(isApi)
    // Calls to the API are not outgoing traffic, and the API counts them.
    const takeBytes = (bytes: number) => context.takeBytes(client.ownerId, bytes)
    this.#meter = new ByteMeter(context.limits, isApi ? undefined : takeBytes)
    this.#meter.start(this.request.head.bytes)
  }

  #callApi(headers: HeaderList, { href, host }: Target): Promise<ReceivedResponse> {
    const { policy } = this.#context
    const { head, body, signal } = this.request
    const { client, run } = this.#sender ?? {}
    const accountId = client?.ownerId ?? ""
    this.#phase = "waiting"
    const call = {
      method: head.method,
      url: href,
      headers: [["host", host], ...headers] as const,
      body: head.framing === 0 ? null : (this.#countSent(body.takeWhole()) ?? this.#readBody()),
      signal,
      onError: (error: unknown) => this.#context.onError(error),
    }
    return callApi(call, (request) => policy.own.fetchApi(request, accountId, run?.id))
  }

  async #send(route: ConnectRoute, headers: HeaderList, target: Target): Promise<ReceivedResponse> {
    const { pool, limits } = this.#context
    const request = toUpstreamRequest(this.request.head, target, headers)
    if (!request) throw new Refusal(400, "its headers contain a character that cannot be sent")
    const mayRepeat = isRepeatable(request)
    const destinations = toDestinations(route)
    const pooled = pool.take(destinations, mayRepeat ? limits.pooledMsMax : limits.freshMsMax)
    try {
      return await this.#sendOn(pooled ?? (await this.#connect(destinations)), request)
    } catch (error) {
      if (!(mayRepeat && error instanceof Http1Failure && error.kind === "stale")) throw error
      // A new connection cannot be stale, so this happens once.
      this.#assertActive()
      return await this.#sendOn(await this.#connect(destinations), request)
    }
  }

  #sendOn(connection: Http1Connection, request: WrittenRequest): Promise<ReceivedResponse> {
    if (!this.#isActive) connection.stop()
    this.#assertActive()
    return new Promise((onResponse, onFailure) => {
      const upstream = connection.send(request, { onResponse, onFailure, onEnd() {} })
      this.#phase = "waiting"
      this.lastByteMs = performance.now()
      this.#upstream = upstream
      if (request.framing !== 0) this.#startUpload(upstream)
    })
  }

  /** Tries one address after the other until a server accepts the connection. */
  async #connect(destinations: readonly Destination[]): Promise<Http1Connection> {
    this.#phase = "connecting"
    let outcome: Http1Connection | Error = new Refusal(502, "it has no address")
    for (const destination of destinations) {
      const connection = this.#context.pool.connect(destination, this.#context.openUpstream())
      this.#connecting = connection
      outcome = await connection.opened
      this.#connecting = undefined
      if (outcome instanceof Http1Connection || connection.wasAccepted || !this.#isActive) break
    }
    if (outcome instanceof Error) throw outcome
    return outcome
  }

  /** A failure aborts the request, so it is reported there. */
  #startUpload(upstream: Exchange): void {
    this.#upload(upstream).catch(() => {})
  }

  /** Sends the body while the response is awaited and forwarded. */
  async #upload(upstream: Exchange): Promise<void> {
    const body = this.#readBody()
    for (let part = await body.next(); part; part = await body.next()) {
      upstream.write(part)
      await upstream.drained()
      await this.#rates.sent.count(part.length)
      this.lastByteMs = performance.now()
    }
    upstream.endBody()
  }

  /** Reads and counts the body of the request. A failure aborts the request. */
  #readBody(): PartReader {
    const { body } = this.request
    return {
      next: async () => {
        try {
          const part = await body.next()
          this.#assertActive()
          return this.#countSent(part)
        } catch (error) {
          if (this.#isActive) this.request.abort(toError(error))
          throw error
        }
      },
    }
  }

  #countSent(part: Uint8Array | undefined): Uint8Array | undefined {
    this.lastByteMs = performance.now()
    if (part) this.#meter?.countSent(part.length)
    return part
  }

  /** Writes the response, part by part as fast as the sandbox reads it. */
  async #respond({ head, body }: ReceivedResponse): Promise<void> {
    const { connection, head: requestHead } = this.request
    const isTunnel = head.status === 101
    if (isTunnel && !isWebSocketUpgrade(head.headers))
      throw new Refusal(502, `${this.#host} did not respond with a WebSocket`)
    const isKept = !isTunnel && this.#keepConnection()
    const { text, isChunked } = toClientHead(head, requestHead.method, isKept)
    this.#countReceived(text.length + (body instanceof Uint8Array ? body.length : 0))
    this.#phase = "responding"
    this.#status = head.status
    this.#isTunnel = isTunnel
    connection.write(text)
    if (body instanceof Uint8Array) connection.write(body)
    if (isTunnel) this.#openTunnel()
    if (body === null || body instanceof Uint8Array) return
    for (let part = await body.next(); part; part = await body.next()) {
      this.#assertActive()
      this.#countReceived(part.length)
      if (isChunked) connection.writeChunk(part)
      else connection.write(part)
      await connection.drained()
      this.lastByteMs = performance.now()
      await this.#rates.received.count(part.length)
    }
    this.#assertActive()
    if (isChunked) connection.writeLastChunk()
  }

  #openTunnel(): void {
    this.request.connection.openTunnel()
    if (this.#upstream) this.#startUpload(this.#upstream)
  }

  #countReceived(bytes: number): void {
    this.lastByteMs = performance.now()
    this.#meter?.countReceived(bytes)
  }

  /** Responds with the reason; in the middle of a response, closes the connection. */
  #refuse(refusal: Refusal): void {
    const { connection, head } = this.request
    if (this.#phase === "responding") return void connection.terminate()
    const { messageUrlCharsMax } = this.#context.limits
    const sentence = toRefusalSentence(this.#url, refusal.reason, messageUrlCharsMax)
    const isKept = this.#keepConnection()
    connection.respond(
      toRefusalResponse(refusal.status, sentence, { isKept, isHead: head.method === "HEAD" }),
    )
  }

  #keepConnection(): boolean {
    const { connection, head } = this.request
    const isKept = head.isKept && this.#context.keep(connection)
    if (!isKept) connection.closeAfterResponse()
    return isKept
  }

  /** Undefined when the sandbox has closed the connection, which is not a refusal. */
  #toRefusal(error: unknown): Refusal | undefined {
    if (error instanceof Refusal) return error
    if (error instanceof BadRequest) return new Refusal(400, error.message)
    if (error instanceof Http1Failure) return explainUpstreamFailure(error, this.#host)
    if (error instanceof ClientGone) return undefined
    this.#context.onError(error)
    return unexpected
  }

  /** Releases what the request has taken, and adds it to the list of its run. */
  #record(refusal: Refusal | undefined): void {
    try {
      this.#meter?.end()
      this.#closeRequest?.()
      if (!this.#sender) return
      const { client, run } = this.#sender
      if (this.#span)
        endSpan(this.#span, this.request.head, this.#target, this.#status, refusal, client)
      if (!run) return
      const bytesSent = this.#isForwarded ? (this.#meter?.sent ?? 0) : 0
      const bytesReceived = this.#isForwarded ? (this.#meter?.received ?? 0) : 0
      recordRequest(
        run,
        {
          at: this.#at,
          method: this.request.head.method,
          url: this.#url,
          status: this.#status,
          blocked: refusal?.reason ?? null,
          bytesSent,
          bytesReceived,
          durationMs: Math.round(performance.now() - this.#startedMs),
        },
        (text, charsMax) => client.mask(text, charsMax),
        this.#context.limits.listedUrlCharsMax,
      )
    } catch (error) {
      this.#context.onError(error)
    }
  }

  #warn(message: string): void {
    const { client, run } = this.#sender as Sender
    run?.log({ at: new Date().toISOString(), level: "warn", message: client.mask(message) })
  }

  /** To be called after every await: the request may have ended meanwhile. */
  #assertActive(): void {
    this.request.throwIfAborted()
    if (!this.#isActive) throw new ClientGone()
  }

  get #isActive(): boolean {
    return this.#phase !== "over" && !this.request.isAborted
  }

  get #url(): string {
    return this.#target?.href ?? this.request.head.target
  }

  /** For messages. */
  get #host(): string {
    return this.#target?.host ?? "it"
  }
}

/** A connection is reused only for the same host, and only if its address is still allowed. */
function toDestinations({ addresses, key, port, tls }: ConnectRoute): readonly Destination[] {
  return addresses.map((address) => ({
    key: `${key} ${address}`,
    socket: { hostname: address, port },
    tls,
  }))
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
