import { proxyNames, type StartedProxy } from "../../support/proxies/start-proxy.ts"
import { chosenToken } from "../../support/server-fixture.ts"
import type { History } from "./history.ts"

/** A response that says what has happened. */
interface Answer {
  readonly status: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: clients read the fields that the contract promises
  readonly json: any
}

interface Request {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** A status that means something to the caller, beside success. */
  readonly alsoStatus?: number
}

/** A node that is paused or cut off responds when it goes on; clients do not wait for that. */
const responseMsMax = 20_000
/** The proxy has no node that works, or the node no database. */
const faultStatuses = new Set([502, 503, 504])
/** The error of a request that is still being executed, perhaps by a node that was killed. */
const inFlight = "idempotency_in_flight"

/** Sends requests through the proxy, each on a connection of its own, so that none is repeated. */
export class ApiCaller {
  readonly #proxy: StartedProxy
  readonly #history: History
  /** Responses that a client could use, and others. */
  readonly counts = { answered: 0, unanswered: 0 }

  constructor(proxy: StartedProxy, history: History) {
    this.#proxy = proxy
    this.#history = history
  }

  /** Calls the API. Undefined if it is unknown whether that had an effect. */
  call(method: string, path: string, request: Request = {}): Promise<Answer | undefined> {
    const { body, headers } = request
    const isBytes = body === undefined || typeof body === "string"
    return this.send(proxyNames.api, path, request, {
      method,
      headers: {
        authorization: `Bearer ${chosenToken}`,
        ...(!isBytes && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: isBytes ? body : JSON.stringify(body) }),
    })
  }

  async send(
    host: string,
    path: string,
    { alsoStatus }: Request,
    init: RequestInit,
  ): Promise<Answer | undefined> {
    const answer = await this.#attempt(host, path, init)
    const isUsable = answer !== undefined && (answer.status < 300 || answer.status === alsoStatus)
    if (isUsable) this.counts.answered += 1
    else this.counts.unanswered += 1
    if (answer === undefined || isUsable) return answer
    if (!faultStatuses.has(answer.status) && answer.json?.code !== inFlight)
      this.#history.unexpected.push(
        `${init.method} ${host}${path}: ${answer.status} ${answer.text.slice(0, 500)}`,
      )
    return undefined
  }

  async #attempt(host: string, path: string, init: RequestInit): Promise<Answer | undefined> {
    try {
      const response = await this.#proxy.fetch(host, path, {
        ...init,
        keepalive: false,
        signal: AbortSignal.timeout(responseMsMax),
      })
      const text = await response.text()
      const isJson = response.headers.get("content-type")?.includes("json") && text !== ""
      return { status: response.status, text, json: isJson ? JSON.parse(text) : undefined }
    } catch {
      return undefined
    }
  }
}
