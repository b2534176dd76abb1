import type { HeaderList } from "../../../domain/runs/runner.ts"
import { Refusal } from "../policy/refusal.ts"
import type { Carrier, CarrierListener } from "./carrier.ts"

/** A request to the API of this server. */
export interface ApiRequest {
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  readonly hasBody: boolean
}

/** What it takes to ask. */
export interface ApiDeps {
  readonly fetchApi: (request: Request) => Promise<Response>
  readonly onError: (error: unknown) => void
}

const limits = {
  /** An answer up to this size is read whole, which costs less than a stream. */
  wholeBytesMax: 65_536,
  /** What is read ahead of whoever reads the body. */
  aheadBytesMax: 65_536,
}

/** Carries a request to the API in this very process. */
export class ApiCall implements Carrier {
  readonly #fetch: (request: Request) => Promise<Response>
  readonly #onError: (error: unknown) => void
  readonly #request: ApiRequest
  readonly #listener: CarrierListener
  readonly #abort = new AbortController()
  /** Of the body, before anybody reads it. */
  #parts: Uint8Array[] = []
  #hasEnded = false
  /** Nobody reads the rest of the body, but the answer is still to come. */
  #isUnread = false
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  #resumed: PromiseWithResolvers<void> | undefined
  #isOver = false

  constructor({ fetchApi, onError }: ApiDeps, request: ApiRequest, listener: CarrierListener) {
    this.#fetch = fetchApi
    this.#onError = onError
    this.#request = request
    this.#listener = listener
  }

  /**
   * Asks. What has come of the body by now is sent whole if that was all. Whatever comes of it is
   * told to the listener, never thrown.
   */
  async send(): Promise<void> {
    const request = this.#toRequest()
    if (!request)
      return this.#fail(
        new Refusal(400, `it is no request to an API, with the method ${this.#request.method}`),
      )
    try {
      const response = await this.#fetch(request)
      if (this.#isOver) void response.body?.cancel().catch(() => {})
      else await this.#passOn(response)
    } catch (error) {
      if (!this.#isOver) this.#onError(error)
      this.#fail(new Refusal(502, "the server has broken off its answer"))
    }
  }

  write(bytes: Uint8Array): boolean {
    if (this.#controller) this.#controller.enqueue(bytes)
    else if (!this.#isUnread) this.#parts.push(bytes)
    return this.#controller === undefined || (this.#controller.desiredSize ?? 0) > 0
  }

  end(): void {
    this.#hasEnded = true
    this.#controller?.close()
    this.#controller = undefined
  }

  pause(): void {
    this.#resumed ??= Promise.withResolvers<void>()
  }

  resume(): void {
    this.#resumed?.resolve()
    this.#resumed = undefined
  }

  abort(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.resume()
    const error = new Error("the val has broken off the request")
    this.#abort.abort(error)
    this.#controller?.error(error)
    this.#controller = undefined
    this.#reader?.cancel().catch(() => {})
  }

  /**
   * Undefined when there is no such request: a method that Bun does not know would become a GET.
   */
  #toRequest(): Request | undefined {
    const { method, url } = this.#request
    const headers = this.#request.headers as [string, string][]
    const body = this.#toBody() as BodyInit | undefined
    try {
      const request = new Request(url, {
        method,
        headers,
        signal: this.#abort.signal,
        ...(body !== undefined && { body, duplex: "half" }),
      })
      return request.method === method ? request : undefined
    } catch {
      return undefined
    }
  }

  #toBody(): Uint8Array | ReadableStream<Uint8Array> | undefined {
    const parts = this.#parts
    this.#parts = []
    if (!this.#request.hasBody) return undefined
    if (this.#hasEnded) return parts.length === 1 ? parts[0] : Buffer.concat(parts)
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          for (const part of parts) controller.enqueue(part)
          this.#controller = controller
        },
        pull: () => {
          if (this.#controller) this.#listener.onCarrierRoom()
        },
        cancel: () => {
          this.#isUnread = true
          this.#controller = undefined
          this.#listener.onCarrierRoom()
        },
      },
      { highWaterMark: limits.aheadBytesMax, size: (bytes) => bytes?.length ?? 0 },
    )
  }

  async #passOn(response: Response): Promise<void> {
    const { status } = response
    const headers: HeaderList = [...response.headers]
    const length = toLength(response.headers.get("content-length"))
    const isSmall = length === undefined ? isJson(response.headers) : length <= limits.wholeBytesMax
    const isBodiless = this.#request.method === "HEAD" || status === 204 || status === 304
    if (isBodiless || isSmall || response.body === null) {
      const bytes = isBodiless ? undefined : await response.bytes()
      if (this.#isOver) return
      this.#listener.onHead(
        { status, headers, framing: bytes?.length ?? length ?? 0, isKept: true },
        bytes ?? null,
      )
    } else {
      this.#listener.onHead(
        { status, headers, framing: length ?? "chunked", isKept: true },
        undefined,
      )
      await this.#passParts(response.body, length)
    }
    if (this.#isOver) return
    this.#isOver = true
    this.#listener.onEnd()
  }

  async #passParts(body: ReadableStream<Uint8Array>, length: number | undefined): Promise<void> {
    const reader = body.getReader()
    this.#reader = reader
    let passed = 0
    while (!this.#isOver) {
      const { done, value } = await reader.read()
      if (this.#isOver) return
      passed += value?.length ?? 0
      if (length !== undefined && (done ? passed !== length : passed > length))
        throw new Error("the answer is not as long as it says")
      if (done) return
      if (value.length > 0) this.#listener.onPart(value)
      await this.#resumed?.promise
    }
  }

  #fail(refusal: Refusal): void {
    if (this.#isOver) return
    this.abort()
    this.#listener.onFailure(refusal)
  }
}

function toLength(value: string | null): number | undefined {
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}

/** Answers in JSON are whole in memory already. */
function isJson(headers: Headers): boolean {
  return headers.get("content-type")?.startsWith("application/json") === true
}
