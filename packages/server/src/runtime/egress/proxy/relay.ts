import type { HeaderList } from "../../../domain/runs/runner.ts"
import type { ResponseHead } from "../../http1/response-head.ts"
import { hasNoBody } from "../../http1/write-request.ts"
import type { EgressLimits } from "../egress-limits.ts"
import { Refusal, toBlockedAnswer } from "../policy/refusal.ts"
import type { ConnectRoute, OwnServer, Route } from "../policy/route.ts"
import type { Target } from "../policy/target.ts"
import { ApiCall } from "./api-call.ts"
import type { Carrier, CarrierListener } from "./carrier.ts"
import type { Front, RequestListener } from "./front.ts"
import { isToSocket } from "./headers.ts"
import type { Journey } from "./journey.ts"
import type { RequestHead } from "./request-head.ts"
import { toAnswerLines } from "./response-lines.ts"
import { toSentRequest } from "./sent-request.ts"
import { type SentRequest, Upstream } from "./upstream.ts"
import type { UpstreamPool } from "./upstream-pool.ts"

/** What a request needs of the door that it goes through. */
export interface RelayDoor {
  readonly limits: EgressLimits
  readonly own: OwnServer
  readonly pool: UpstreamPool
  /** The beginning of a journey; it waits until it is known who is in the sandbox. */
  embark(head: RequestHead): Journey | Promise<Journey>
  /** It is over. */
  forgetRelay(relay: Relay): void
  onError(error: unknown): void
}

const unexpected = new Refusal(502, "the server has failed")

/**
 * One request on its way, from its head until the last byte of its answer.
 *
 *   deciding ──▶ connecting ──▶ waiting ──▶ answering ──▶ over        a WebSocket is an answer of both sides
 *       └────────────┴─────────────┴────────────┴─────────▲
 */
export class Relay implements RequestListener, CarrierListener {
  readonly #door: RelayDoor
  readonly #front: Front
  readonly #head: RequestHead
  readonly #startedMs = performance.now()
  #phase: "deciding" | "connecting" | "waiting" | "answering" | "over" = "deciding"
  #journey: Journey | undefined
  #route: Route | undefined
  #request: SentRequest | undefined
  #trying: Upstream | undefined
  #carrier: Carrier | undefined
  #hasBodyEnded: boolean
  #isChunked = false
  #isTunnel = false
  #status: number | null = null
  /** When a byte last passed. */
  #lastMs = this.#startedMs

  constructor(door: RelayDoor, front: Front, head: RequestHead) {
    this.#door = door
    this.#front = front
    this.#head = head
    this.#hasBodyEnded = head.framing === 0
  }

  start(): void {
    this.#see(this.#go())
  }

  onBody(bytes: Uint8Array): void {
    this.#lastMs = performance.now()
    const refusal = this.#journey?.meter.send(bytes.length)
    if (refusal) this.end(refusal)
    else if (this.#carrier?.write(bytes) === false) this.#front.pause()
  }

  onBodyEnd(): void {
    this.#hasBodyEnded = true
    this.#carrier?.end()
  }

  onRoom(): void {
    this.#lastMs = performance.now()
    this.#carrier?.resume()
  }

  onCarrierRoom(): void {
    this.#lastMs = performance.now()
    if (this.#phase !== "over") this.#front.resume()
  }

  onInvalid(refusal: Refusal): void {
    this.end(refusal)
  }

  /** Nobody waits for it any more. It was not blocked; what has passed has passed. */
  onGone(): void {
    this.#finish(null)
  }

  onHead(head: ResponseHead, body: Uint8Array | null | undefined): void {
    if (this.#phase !== "waiting") return
    this.#lastMs = performance.now()
    const isTunnel = head.status === 101
    if (isTunnel && !isToSocket(head.headers))
      return void this.end(new Refusal(502, `${this.#host} answered with no WebSocket`))
    const { text, isChunked } = toAnswerLines(head, this.#head.method)
    const refusal = this.#journey?.meter.receive(text.length + (body?.length ?? 0))
    if (refusal) return void this.end(refusal)
    this.#phase = "answering"
    this.#status = head.status
    this.#isChunked = isChunked
    this.#isTunnel = isTunnel
    this.#front.write(text)
    if (body) this.#front.write(body)
    if (isTunnel) this.#front.tunnel()
  }

  onPart(bytes: Uint8Array): void {
    if (this.#phase !== "answering") return
    this.#lastMs = performance.now()
    const refusal = this.#journey?.meter.receive(bytes.length)
    if (refusal) return void this.end(refusal)
    if (this.#isChunked) this.#front.write(`${bytes.length.toString(16)}\r\n`)
    this.#front.write(bytes)
    if (this.#isChunked) this.#front.write("\r\n")
    if (this.#front.isFull) this.#carrier?.pause()
  }

  onEnd(): void {
    if (this.#phase !== "answering") return
    if (this.#isChunked) this.#front.write("0\r\n\r\n")
    this.#carrier = undefined
    this.#finish(null)
    this.#front.finish()
  }

  onFailure(refusal: Refusal): void {
    this.#carrier = undefined
    this.end(refusal)
  }

  onStale(): void {
    this.#carrier = undefined
    // Sending it twice is safe only if nothing comes of it, and if nothing of it is gone already.
    // The new connection has no past.
    if (this.#request && this.#isRepeatable) this.#see(this.#send(this.#request, { isFresh: true }))
    else this.end(new Refusal(502, `${this.#host} has closed the connection`))
  }

  /** Ends what has taken its time. */
  sweep(nowMs: number): void {
    const { limits } = this.#door
    const quietMs = nowMs - this.#lastMs
    if (this.#isTunnel) {
      if (quietMs > limits.tunnelIdleMsMax)
        this.end(
          new Refusal(504, `nothing has come or gone for ${limits.tunnelIdleMsMax / 1000} s`),
        )
    } else if (nowMs - this.#startedMs > limits.msMax)
      this.end(new Refusal(504, `it took longer than ${limits.msMax / 1000} s`))
    else if (this.#phase === "connecting") this.#giveUpTrying(nowMs)
    else if (this.#phase === "waiting" && this.#hasBodyEnded) {
      if (quietMs > limits.answerMsMax)
        this.end(
          new Refusal(504, `${this.#host} has not answered for ${limits.answerMsMax / 1000} s`),
        )
    } else if (this.#phase !== "deciding" && quietMs > limits.idleMsMax)
      this.end(new Refusal(504, `nothing has come or gone for ${limits.idleMsMax / 1000} s`))
  }

  /** Ends it: with an answer of our own, or in the middle of one. */
  end(refusal: Refusal): void {
    if (this.#phase === "over") return
    const isBroken = this.#phase === "answering"
    const { method, isKept } = this.#head
    const sentence = this.#journey?.toSentence(refusal.reason) ?? refusal.reason
    this.#finish(refusal)
    if (isBroken) this.#front.terminate()
    else
      this.#front.finish(
        toBlockedAnswer(refusal.status, sentence, { isKept, isHead: method === "HEAD" }),
      )
  }

  get #host(): string {
    return this.#journey?.host ?? "it"
  }

  get #isRepeatable(): boolean {
    return (
      this.#head.framing === 0 && (hasNoBody(this.#head.method) || this.#head.method === "OPTIONS")
    )
  }

  /** Nothing that goes wrong on the way is left without an end. */
  #see(going: Promise<void>): void {
    going.catch((error: unknown) => {
      this.#door.onError(error)
      this.end(unexpected)
    })
  }

  async #go(): Promise<void> {
    const embarking = this.#door.embark(this.#head)
    const journey = embarking instanceof Promise ? await embarking : embarking
    if (this.#isOver) return
    this.#journey = journey
    const route = await journey.choose()
    if (this.#isOver) return
    if (route instanceof Refusal) return this.end(route)
    this.#route = route
    const target = journey.target as Target
    const headers = journey.depart(route)
    if (route.kind === "api") return this.#ask(target, headers, journey.accountId)
    const request = toSentRequest(this.#head, target, headers)
    if (!request)
      return this.end(new Refusal(400, "there is a character in its headers that cannot be sent"))
    await this.#send(request, { isFresh: false })
  }

  #ask({ href, host }: Target, headers: HeaderList, accountId: string): void {
    const { own } = this.#door
    const { method, framing } = this.#head
    const request = {
      method,
      url: href,
      headers: [["host", host], ...headers] as const,
      hasBody: framing !== 0,
    }
    const onError = (error: unknown) => this.#door.onError(error)
    const call = new ApiCall(
      { fetchApi: (request) => own.fetchApi(request, accountId), onError },
      request,
      this,
    )
    this.#phase = "waiting"
    this.#carrier = call
    this.#front.flow()
    void call.send()
  }

  async #send(request: SentRequest, { isFresh }: { readonly isFresh: boolean }): Promise<void> {
    const route = this.#route as ConnectRoute
    this.#phase = "connecting"
    this.#request = request
    const kept = isFresh
      ? undefined
      : this.#door.pool.take(route.key, route.addresses, this.#isRepeatable)
    const upstream = kept ?? (await this.#connect(route))
    if (this.#isOver) return upstream instanceof Upstream ? upstream.abort() : undefined
    if (upstream instanceof Refusal) return this.end(upstream)
    this.#phase = "waiting"
    this.#lastMs = performance.now()
    this.#carrier = upstream
    upstream.begin(request, this)
    this.#front.flow()
  }

  /**
   * Tries one after the other. Where somebody answers, but not as they have to, no other is tried.
   */
  async #connect({ addresses, ...rest }: ConnectRoute): Promise<Upstream | Refusal> {
    let outcome: Upstream | Refusal = new Refusal(502, "it has no address")
    for (const address of addresses) {
      const upstream = this.#door.pool.connect({ ...rest, address })
      this.#trying = upstream
      outcome = await upstream.connected
      if (outcome instanceof Upstream || upstream.hasOpened || this.#isOver) break
    }
    this.#trying = undefined
    return outcome
  }

  #giveUpTrying(nowMs: number): void {
    if (this.#trying && nowMs - this.#trying.startedMs > this.#door.limits.connectMsMax)
      this.#trying.stop(new Refusal(504, `${this.#host} does not answer`))
  }

  // A getter, because the phase changes while somebody waits.
  get #isOver(): boolean {
    return this.#phase === "over"
  }

  #finish(refusal: Refusal | null): void {
    if (this.#phase === "over") return
    this.#phase = "over"
    const carrier = this.#carrier ?? this.#trying
    this.#carrier = this.#trying = undefined
    carrier?.abort()
    this.#door.forgetRelay(this)
    try {
      this.#journey?.end(this.#status, refusal)
    } catch (error) {
      this.#door.onError(error)
    }
  }
}
