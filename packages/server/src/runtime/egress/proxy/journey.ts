import { runHeader } from "@hamlet/guest/protocol"
import { depthHeader } from "../../../domain/egress.ts"
import type { HeaderList, RunListener } from "../../../domain/runs/runner.ts"
import type { EgressClient } from "../../sandbox/egress-listener.ts"
import type { EgressLimits } from "../egress-limits.ts"
import { cutChars, Refusal, toSentence } from "../policy/refusal.ts"
import { chooseRoute, type Route, type RouteDeps } from "../policy/route.ts"
import { parseTarget, type Target } from "../policy/target.ts"
import { passHeaders } from "./headers.ts"
import { Meter } from "./meter.ts"
import type { RequestHead } from "./request-head.ts"
import { substitute } from "./substitute.ts"

/** What a journey needs of the door that it begins at. */
export interface JourneyDoor {
  readonly limits: EgressLimits
  readonly routes: RouteDeps
  /**
   * Counts one more request that is open, or says why there is none. The API has limits of its own
   * for how often it may be asked.
   */
  enter(isApi: boolean): Refusal | undefined
  /** One that was counted is over. */
  leave(): void
  takeBytes(ownerId: string, bytes: number): void
  noteEnd(end: JourneyEnd): void
}

/** What a request came to. */
export interface JourneyEnd {
  readonly isBlocked: boolean
  readonly bytesSent: number
  readonly bytesReceived: number
}

/**
 * Everything about one request but its bytes: who sends it, where it may go, what it takes with it,
 * what its run hears of it.
 */
export class Journey {
  readonly target: Target | Refusal
  readonly meter: Meter
  readonly #door: JourneyDoor
  readonly #guest: EgressClient
  readonly #head: RequestHead
  readonly #run: RunListener | undefined
  readonly #depth: number
  readonly #isApi: boolean
  readonly #at = Date.now()
  readonly #startedMs = performance.now()
  #hasEntered = false
  #hasLeft = false

  constructor(door: JourneyDoor, guest: EgressClient, head: RequestHead) {
    this.#door = door
    this.#guest = guest
    this.#head = head
    this.target = parseTarget(head.target)
    this.#isApi = !(this.target instanceof Refusal) && door.routes.own.isApiHost(this.target.host)
    const { run, depth } = guest.findRun(findRunId(head.headers, guest.egressKey))
    this.#run = run
    this.#depth = depth
    // What stays in this server is no traffic, and the API counts what it is asked for.
    this.meter = new Meter(door, this.#isApi ? undefined : guest.ownerId)
  }

  /** Whose account the val runs on. */
  get accountId(): string {
    return this.#guest.ownerId
  }

  /** Its host, in words. */
  get host(): string {
    return this.target instanceof Refusal ? "it" : this.target.host
  }

  /** Where it goes, if anywhere. */
  choose(): Refusal | Promise<Route | Refusal> {
    if (this.target instanceof Refusal) return this.target
    const refusal = this.#door.enter(this.#isApi)
    if (refusal) return refusal
    this.#hasEntered = true
    const { ownerId } = this.#guest
    return (
      this.meter.begin(this.#head.bytes) ??
      chooseRoute(this.#door.routes, this.target, { ownerId, depth: this.#depth })
    )
  }

  /** The headers that it has from here on. */
  depart(route: Route): HeaderList {
    this.#hasLeft = true
    const isOwn = route.kind === "api" || route.isOwn
    const isTrusted = route.kind === "api" || route.isTrusted
    const { substitutions } = this.#guest
    const headers = substitute(
      passHeaders(this.#head.headers),
      this.host,
      isTrusted,
      substitutions,
      (sentence) => this.#warn(sentence),
    )
    if (!isOwn) return headers
    const { addressHeader } = this.#door.routes.own
    return [
      ...headers.filter(([name]) => name !== addressHeader),
      [depthHeader, String(this.#depth + 1)],
    ]
  }

  /** What a val reads when nothing has come of it. */
  toSentence(reason: string): string {
    return toSentence(this.#url, reason, this.#door.limits.messageUrlCharsMax)
  }

  /** It is over; its run hears of it. */
  end(status: number | null, refusal: Refusal | null): void {
    this.meter.end()
    if (this.#hasEntered) this.#door.leave()
    const [bytesSent, bytesReceived] = this.#hasLeft
      ? [this.meter.sent, this.meter.received]
      : [0, 0]
    this.#door.noteEnd({ isBlocked: refusal !== null, bytesSent, bytesReceived })
    this.#run?.sent({
      at: this.#at,
      method: this.#guest.mask(this.#head.method),
      // Masked before it is cut: half a secret is not found any more.
      url: cutChars(
        maskUrl(this.#url, (text) => this.#guest.mask(text)),
        this.#door.limits.listedUrlCharsMax,
      ),
      status,
      blocked: refusal && this.#guest.mask(refusal.reason),
      bytesSent,
      bytesReceived,
      durationMs: Math.round(performance.now() - this.#startedMs),
    })
  }

  get #url(): string {
    return this.target instanceof Refusal ? this.#head.target : this.target.href
  }

  #warn(sentence: string): void {
    this.#run?.log({
      at: new Date().toISOString(),
      level: "warn",
      message: this.#guest.mask(sentence),
    })
  }
}

/**
 * What is escaped is looked for in the text that it stands for; where something is found, that text
 * is shown.
 */
function maskUrl(url: string, mask: (text: string) => string): string {
  for (const escaped of /[%+]/.test(url) ? [url, url.replaceAll("+", " ")] : []) {
    const text = escaped.replace(/(%[0-9a-f]{2})+/gi, unescapeText)
    const masked = mask(text)
    if (masked !== text) return masked
  }
  return mask(url)
}

/** As it is where it stands for no text. */
function unescapeText(escaped: string): string {
  try {
    return decodeURIComponent(escaped)
  } catch {
    return escaped
  }
}

/**
 * The run that the guest says the request is of. The val may add the header too, but does not know
 * the key.
 */
function findRunId(headers: HeaderList, key: string): string | undefined {
  const start = `${key} `
  for (const header of headers)
    if (header[0] === runHeader && header[1].startsWith(start)) return header[1].slice(start.length)
  return undefined
}
