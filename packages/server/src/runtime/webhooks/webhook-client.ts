import {
  ConnectionPool,
  Http1Connection,
  Http1Failure,
  http1Limits,
  type ReceivedResponse,
  writeRequest,
} from "@hamlet/http1"
import { currentWork, RateLimited, withinTime } from "@hamlet/kit"
import {
  type ConnectRoute,
  decide,
  explainUpstreamFailure,
  parseTarget,
  Refusal,
  type RoutePolicy,
  type Target,
} from "@hamlet/sandbox"
import type {
  HeaderPairs,
  ReceiverResponse,
  SendOutcome,
  WebhookClient,
  WebhookRequest,
} from "../../domain/webhooks/deliveries.ts"

export interface WebhookClientOptions {
  readonly policy: RoutePolicy
  /** Takes bytes from the owner's allowance; throws when it is used up. */
  takeBytes(ownerId: string, bytes: number): void
  readonly limits?: Partial<WebhookClientLimits>
}

/** The limits of one request. */
const defaults = {
  /** From the lookup of the name to the head of the response. */
  responseMsMax: 15_000,
  /** For each address of the host: until the connection is open, including the TLS handshake. */
  connectMsMax: 5_000,
  /** For the part of the body that is kept. */
  bodyMsMax: 2_000,
  bodyBytesMax: 4_096,
  headersMax: 30,
  headerCharsMax: 500,
  /** The longest wait that a receiver can ask for is limited again by the backoff. */
  retryAfterSecondsMax: 86_400,
}

export type WebhookClientLimits = Readonly<typeof defaults>

/** Each attempt has a connection of its own: a reused one may be about to be closed. */
const poolLimits = { ...http1Limits, bufferedBytesMax: 65_536, pooledMax: 0, pooledMsMax: 0 }

/**
 * Sends requests to the URLs of webhooks under the rules for requests of vals: the host is resolved
 * once, its address is judged, and the connection goes to exactly that address. Redirects are not
 * followed.
 */
export function createWebhookClient(options: WebhookClientOptions): WebhookClient {
  const limits = { ...defaults, ...options.limits }
  return {
    async findFault(url, ownerId) {
      const target = parseTarget(url)
      if (target instanceof Refusal) return target.reason
      const { own, hosts } = options.policy
      if (own.isApiHost(target.host)) return ownApi
      if (own.isProgramHost(target.host)) return undefined
      const { hostname, port } = target
      const decision = await hosts.checkHost({ hostname, port, ownerId })
      // A name without an address may get one until the first event.
      return decision.kind === "blocked" && !decision.isNotFound ? decision.reason : undefined
    },
    async post(request) {
      const attempt = new Attempt(options, limits, request)
      try {
        return await attempt.run()
      } finally {
        attempt.stop()
      }
    },
  }
}

const ownApi = "it is the API of this server"

/** One request and its response. */
class Attempt {
  readonly #options: WebhookClientOptions
  readonly #limits: WebhookClientLimits
  readonly #request: WebhookRequest
  readonly #pool = new ConnectionPool(poolLimits)
  readonly #startedMs = performance.now()
  #isStopped = false
  #host = "the receiver"
  #headers: HeaderPairs

  constructor(options: WebhookClientOptions, limits: WebhookClientLimits, request: WebhookRequest) {
    this.#options = options
    this.#limits = limits
    this.#request = request
    this.#headers = request.headers
  }

  async run(): Promise<SendOutcome> {
    const { signal } = this.#request
    try {
      const received = await withinTime(
        this.#send(),
        this.#limits.responseMsMax,
        () => new Refusal(504, `${this.#host} did not respond in time`),
        signal,
      )
      return await this.#toOutcome(received)
    } catch (error) {
      // The server stops, or another node sends the message.
      signal.throwIfAborted()
      return { ...this.#toRequest(), response: null, error: toSentence(error, this.#host) }
    }
  }

  /** Nothing is sent afterwards, because another attempt may follow. */
  stop(): void {
    this.#isStopped = true
    this.#pool.stop()
  }

  async #send(): Promise<ReceivedResponse> {
    const { url, ownerId, depth, body: text } = this.#request
    const span = currentWork()?.span
    const traced: HeaderPairs = span ? [["traceparent", span.traceparent]] : []
    const headers = [...this.#request.headers, ...traced]
    const target = parseTarget(url)
    if (target instanceof Refusal) throw target
    this.#host = target.host
    const route = await decide(
      this.#options.policy,
      { ownerId, depth: depth - 1, substitutions: [] },
      { target, headers },
    )
    if (route instanceof Refusal) throw route
    if (route.kind === "api") throw new Refusal(403, ownApi)
    this.#headers = route.headers
    const body = Buffer.from(text)
    this.#options.takeBytes(ownerId, body.length)
    return this.#exchange(await this.#connect(route), target, body)
  }

  /** Tries one address after the other until a server accepts the connection. */
  async #connect({ addresses, port, tls, key }: ConnectRoute): Promise<Http1Connection> {
    let outcome: Http1Connection | Error = new Refusal(502, "it has no address")
    for (const hostname of addresses) {
      if (this.#isStopped) break
      const connection = this.#pool.connect({ key, socket: { hostname, port }, tls })
      const timer = setTimeout(() => connection.stop(slow), this.#limits.connectMsMax)
      outcome = await connection.opened
      clearTimeout(timer)
      if (outcome instanceof Http1Connection || connection.wasAccepted) break
    }
    if (outcome instanceof Error) throw outcome
    return outcome
  }

  #exchange(
    connection: Http1Connection,
    { host, path }: Target,
    body: Uint8Array,
  ): Promise<ReceivedResponse> {
    const lines = { method: "POST", host, path, headers: this.#headers }
    const written = writeRequest(lines, body.length)
    if (!written) throw new Refusal(400, "it contains a character that cannot be sent")
    return new Promise((onResponse, onFailure) => {
      const exchange = connection.send(written, { onResponse, onFailure, onEnd() {} })
      exchange.write(body)
      exchange.endBody()
    })
  }

  async #toOutcome({ head, body }: ReceivedResponse): Promise<SendOutcome> {
    const durationMs = Math.round(performance.now() - this.#startedMs)
    const { headersMax, headerCharsMax } = this.#limits
    const start = await this.#readStart(body)
    const response: ReceiverResponse = {
      status: head.status,
      headers: head.headers
        .slice(0, headersMax)
        .map(([name, value]) => [toStored(name), toStored(value).slice(0, headerCharsMax)]),
      body: start.text,
      isTruncated: start.isTruncated,
      durationMs,
    }
    const error = findError(head.status)
    return {
      ...this.#toRequest(),
      response,
      error: error && `Cannot deliver the event: ${this.#host} ${error}`,
      retryAfterMs: this.#toRetryAfterMs(head.headers),
    }
  }

  /** The receiver has responded: a slow or broken body changes nothing about that. */
  async #readStart(body: ReceivedResponse["body"]) {
    const { bodyBytesMax, bodyMsMax } = this.#limits
    const parts: Uint8Array[] = []
    let bytes = 0
    let isWhole = body === null || body instanceof Uint8Array
    const read = async () => {
      if (body instanceof Uint8Array) parts.push(body)
      if (body === null || body instanceof Uint8Array) return
      while (bytes <= bodyBytesMax) {
        const part = await body.next()
        if (!part) {
          isWhole = true
          return
        }
        bytes += part.length
        parts.push(part)
      }
    }
    const toError = () => new Error("slow")
    await withinTime(read(), bodyMsMax, toError, this.#request.signal).catch(() => {})
    const all = Buffer.concat(parts)
    return {
      text: toStored(new TextDecoder().decode(all.subarray(0, bodyBytesMax))),
      isTruncated: !isWhole || all.length > bodyBytesMax,
    }
  }

  #toRetryAfterMs(headers: HeaderPairs): number | undefined {
    const value = headers.find(([name]) => name.toLowerCase() === "retry-after")?.[1] ?? ""
    return /^\d{1,6}$/.test(value)
      ? Math.min(Number(value), this.#limits.retryAfterSecondsMax) * 1000
      : undefined
  }

  #toRequest() {
    return { request: { url: this.#request.url, headers: this.#headers } }
  }
}

const slow = new Http1Failure("slow", "the connection could not be opened in time")

/** Why a response is not a success, as words that follow the host. */
function findError(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400)
    return `responded with ${status}, and redirects are not followed`
  return `responded with ${status}`
}

function toSentence(error: unknown, host: string): string {
  return `Cannot deliver the event: ${toReason(error, host)}`
}

function toReason(error: unknown, host: string): string {
  if (error instanceof Refusal) return error.reason
  if (error instanceof Http1Failure) return explainUpstreamFailure(error, host).reason
  if (error instanceof RateLimited) return error.message
  throw error
}

/** Neither database stores NUL. */
function toStored(text: string): string {
  return text.replaceAll("\0", "\ufffd")
}
