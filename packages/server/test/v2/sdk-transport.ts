import type { Page } from "./sdk-records.ts"

const timeoutMs = 60_000
const retriesDefault = 2
const retryDelayMs = { first: 500, max: 8_000 }
/** A longer wait that a server asks for is ignored. */
const retryAfterMsMax = 60_000

/** Values of a query; without those that are undefined, and with arrays as a repeated key. */
export type Query = Readonly<Record<string, unknown>>

export interface SdkOptions {
  readonly baseUrl: string
  readonly apiKey: string
  readonly maxRetries?: number
  readonly headers?: Readonly<Record<string, string>>
}

export interface SdkRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  /** A path, or an absolute URL as in links. */
  readonly path: string
  readonly query?: Query
  /** Bytes are sent as they are, everything else as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the caller gets the response itself. */
  readonly isBinary?: boolean
}

/** How a list goes on: at the address in its links, or with that address as its cursor. */
export type ListPages = "links" | "cursor"

/** A response with an error, or none at all: then it has no status. */
export class SdkError extends Error {
  constructor(
    readonly status: number | undefined,
    readonly headers: Headers | undefined,
    /** The body, where it is JSON. */
    readonly error: { readonly code?: string; readonly message?: unknown } | undefined,
    text: string,
  ) {
    super(toMessage(status, error, text))
  }
}

class BadRequestError extends SdkError {}
export class AuthenticationError extends SdkError {}
export class PermissionDeniedError extends SdkError {}
export class NotFoundError extends SdkError {}
export class ConflictError extends SdkError {}
class UnprocessableEntityError extends SdkError {}
class RateLimitError extends SdkError {}
class InternalServerError extends SdkError {}
class ConnectionError extends SdkError {}
class ConnectionTimeoutError extends ConnectionError {}

const errorClasses: Readonly<Record<number, typeof SdkError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableEntityError,
  429: RateLimitError,
}

/** Sends requests as the generated clients do: their headers, retries, errors and results. */
export class SdkTransport {
  readonly #options: SdkOptions

  constructor(options: SdkOptions) {
    this.#options = options
  }

  async send<T>(request: SdkRequest): Promise<T> {
    const retriesMax = this.#options.maxRetries ?? retriesDefault
    for (let retries = 0; ; retries += 1) {
      const response = await this.#fetch(request, retries)
      if (response instanceof Response && response.ok)
        return (request.isBinary ? response : await readResult(response)) as T
      const isLast = retries >= retriesMax
      if (isLast || (response instanceof Response && !mayRetry(response)))
        throw await toError(response)
      await pause(response instanceof Response ? response.headers : undefined, retries)
    }
  }

  /** The response, or the error of the connection. */
  async #fetch(request: SdkRequest, retries: number): Promise<Response | Error> {
    const { apiKey, headers } = this.#options
    const { body, isBytes } = toBody(request.body)
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), timeoutMs)
    try {
      return await fetch(toUrl(this.#options.baseUrl, request), {
        method: request.method,
        headers: {
          Accept: "application/json",
          "User-Agent": "ValTown/JS 3.12.0",
          "X-Stainless-Retry-Count": String(retries),
          ...toPlatformHeaders(),
          Authorization: `Bearer ${apiKey}`,
          ...headers,
          ...(body === undefined || isBytes ? {} : { "Content-Type": "application/json" }),
          ...request.headers,
        },
        ...(body === undefined ? {} : { body }),
        signal: controller.signal,
      })
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    } finally {
      clearTimeout(timer)
    }
  }
}

/** A list of which the first page is requested when it is read, and the others on the way. */
export class Listing<Item> implements AsyncIterable<Item> {
  readonly #transport: SdkTransport
  readonly #first: SdkRequest
  readonly #pages: ListPages

  constructor(transport: SdkTransport, first: SdkRequest, pages: ListPages) {
    this.#transport = transport
    this.#first = first
    this.#pages = pages
  }

  async *pages(): AsyncGenerator<Page<Item>> {
    let request: SdkRequest | undefined = this.#first
    while (request !== undefined) {
      const page: Page<Item> = await this.#transport.send(request)
      yield page
      request = page.data.length === 0 ? undefined : this.#next(request, page.links?.next)
    }
  }

  /** `Array.fromAsync`, which Node 20 does not have. */
  async toArray(): Promise<Item[]> {
    const items: Item[] = []
    for await (const item of this) items.push(item)
    return items
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for await (const page of this.pages()) yield* page.data
  }

  #next(request: SdkRequest, next: string | undefined): SdkRequest | undefined {
    if (!next) return undefined
    if (this.#pages === "cursor") return { ...request, query: { ...request.query, cursor: next } }
    const url = new URL(next)
    // The values of the link win. The client writes one that is undefined as that word.
    const own = [...url.searchParams]
    for (const [key, value] of Object.entries(request.query ?? {}))
      url.searchParams.set(key, String(value))
    for (const [key, value] of own) url.searchParams.set(key, value)
    return { method: request.method, path: url.href }
  }
}

/** Encodes the parameters of a path, `/` too. */
export function toPath(literals: TemplateStringsArray, ...params: readonly string[]): string {
  return String.raw({ raw: literals }, ...params.map((param) => encodeURIComponent(param)))
}

function toUrl(baseUrl: string, { path, query }: SdkRequest): string {
  const url = /^https?:\/\//.test(path) ? new URL(path) : new URL(baseUrl + path)
  const pairs = Object.entries(query ?? {})
    .filter(([, value]) => value !== undefined)
    .flatMap(([key, value]): [string, unknown][] =>
      Array.isArray(value) ? value.map((item) => [key, item]) : [[key, value]],
    )
  if (query !== undefined)
    url.search = pairs
      .map(
        ([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(String(value ?? ""))}`,
      )
      .join("&")
  return url.href
}

function toBody(body: unknown): { readonly body?: BodyInit; readonly isBytes: boolean } {
  if (body === undefined) return { isBytes: false }
  const isBytes = ArrayBuffer.isView(body) || body instanceof Blob
  return { body: isBytes ? (body as BodyInit) : JSON.stringify(body), isBytes }
}

/** What the client tells of the platform; a preflight of a browser names all of them. */
function toPlatformHeaders(): Record<string, string> {
  const isBrowser = "document" in globalThis
  return {
    "X-Stainless-Lang": "js",
    "X-Stainless-Package-Version": "3.12.0",
    "X-Stainless-OS": isBrowser ? "Unknown" : "Linux",
    "X-Stainless-Arch": isBrowser ? "unknown" : "x64",
    "X-Stainless-Runtime": isBrowser ? "browser:chrome" : "node",
    "X-Stainless-Runtime-Version": "24.0.0",
    "X-Stainless-Timeout": String(timeoutMs / 1_000),
  }
}

async function readResult(response: Response): Promise<unknown> {
  if (response.status === 204) return null
  const type = response.headers.get("content-type")?.split(";")[0]?.trim() ?? ""
  const isJson = type.includes("application/json") || type.endsWith("+json")
  return isJson ? await response.json() : await response.text()
}

function mayRetry({ status, headers }: Response): boolean {
  const said = headers.get("x-should-retry")
  if (said === "true" || said === "false") return said === "true"
  return [408, 409, 429].includes(status) || status >= 500
}

async function pause(headers: Headers | undefined, retries: number): Promise<void> {
  const backoffMs = Math.min(retryDelayMs.first * 2 ** retries, retryDelayMs.max)
  const askedMs = toAskedMs(headers)
  const isUsable = askedMs !== undefined && askedMs > 0 && askedMs < retryAfterMsMax
  const waitMs = isUsable ? askedMs : backoffMs * (1 - Math.random() * 0.25)
  await new Promise((resolve) => setTimeout(resolve, waitMs))
}

function toAskedMs(headers: Headers | undefined): number | undefined {
  const ms = Number.parseFloat(headers?.get("retry-after-ms") ?? "")
  if (!Number.isNaN(ms)) return ms
  const after = headers?.get("retry-after")
  if (!after) return undefined
  const seconds = Number.parseFloat(after)
  return Number.isNaN(seconds) ? Date.parse(after) - Date.now() : seconds * 1_000
}

async function toError(response: Response | Error): Promise<SdkError> {
  if (!(response instanceof Response)) {
    const isTimeout = response.name === "AbortError"
    const Class = isTimeout ? ConnectionTimeoutError : ConnectionError
    return new Class(undefined, undefined, undefined, `Connection error: ${response.message}`)
  }
  const text = await response.text()
  const { status, headers } = response
  const Class = errorClasses[status] ?? (status >= 500 ? InternalServerError : SdkError)
  return new Class(status, headers, toJson(text), text)
}

function toJson(text: string): SdkError["error"] {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The message of the body; the whole body if it has none. */
function toMessage(status: number | undefined, error: SdkError["error"], text: string): string {
  const message = error?.message
  const said =
    message === undefined ? text : typeof message === "string" ? message : JSON.stringify(message)
  return [status, said || "status code (no body)"].filter((part) => part !== undefined).join(" ")
}
