import type { ValResponse } from "../../domain/runs/runner.ts"
import { toStream } from "../http1/byte-queue.ts"
import type {
  Exchange,
  ExchangeListener,
  Http1Failure,
  ReceivedResponse,
} from "../http1/exchange.ts"
import type { Http1Connection } from "../http1/http1-connection.ts"
import { isRepeatable, type WrittenRequest } from "../http1/write-request.ts"
import { BodySender } from "./body-sender.ts"
import type { GuestRequest } from "./guest-request.ts"

/** Why there is no response, or only a part of one. */
export interface GuestFailure {
  /**
   * `unsendable`: the request is invalid; `body`: the body of the request failed; `closed`: the
   * connection was closed; `invalid`: the response is invalid; `aborted`: the caller aborted it.
   */
  readonly kind: "unsendable" | "body" | "closed" | "invalid" | "aborted"
  readonly message: string
}

/**
 * Receives the outcome of a request: exactly one of these calls. Failures after the head are errors
 * of the body's stream.
 */
export interface ResponseListener {
  onResponse(response: ValResponse): void
  onFailure(failure: GuestFailure): void
}

/** The client that sends the request. */
interface ExchangeClient {
  /** Sends the request again, on a new connection. */
  repeat(exchange: GuestExchange, request: WrittenRequest): void
}

/**
 * A request to a process and its response.
 *
 *   waiting ──▶ responded ──▶ over          the listener is called for the first step
 *      └─────────────────────────▲
 */
export class GuestExchange implements ExchangeListener {
  state: "waiting" | "responded" | "over" = "waiting"
  readonly #client: ExchangeClient
  readonly #body: GuestRequest["body"]
  readonly #listener: ResponseListener
  #exchange: Exchange | undefined
  #sender: BodySender | undefined

  constructor(client: ExchangeClient, body: GuestRequest["body"], listener: ResponseListener) {
    this.#client = client
    this.#body = body
    this.#listener = listener
  }

  /** Sends the request and its body. */
  sendOn(connection: Http1Connection, request: WrittenRequest): void {
    const body = this.#body
    const exchange = connection.send(request, this)
    this.#exchange = exchange
    if (body instanceof ReadableStream) void this.#sendStream(body, exchange)
    else if (body !== null) {
      exchange.write(body)
      exchange.endBody()
    }
  }

  /** Aborts the request. The val sees that its client has closed the connection. */
  abort(): void {
    this.#abort("aborted", "the request was aborted")
  }

  /** Ends it with a failure. */
  fail(kind: GuestFailure["kind"], message: string): void {
    const wasWaiting = this.state === "waiting"
    this.#finish()
    if (wasWaiting) this.#listener.onFailure({ kind, message })
  }

  onResponse({ head: { status, headers }, body }: ReceivedResponse): void {
    this.state = "responded"
    this.#listener.onResponse({
      status,
      headers,
      body:
        body === null || body instanceof Uint8Array
          ? body
          : toStream(body, () => this.#abort("aborted", "the response was cancelled")),
    })
  }

  onEnd(): void {
    this.#finish()
  }

  onFailure(failure: Http1Failure): void {
    if (this.state === "over") return
    const request = this.#exchange?.request
    // The second connection is new and cannot be stale, so there is no third attempt.
    if (failure.kind === "stale" && request && this.#body === null && isRepeatable(request))
      this.#client.repeat(this, request)
    else this.fail(failure.kind === "invalid" ? "invalid" : "closed", failure.message)
  }

  async #sendStream(body: ReadableStream<Uint8Array>, exchange: Exchange): Promise<void> {
    const sender = new BodySender(body, exchange)
    this.#sender = sender
    try {
      await sender.send()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#abort("body", `the request body failed: ${reason}`)
    }
  }

  #finish(): void {
    this.state = "over"
    this.#exchange = undefined
    // The process has responded without reading all of the body.
    this.#sender?.stop()
    this.#sender = undefined
  }

  #abort(kind: GuestFailure["kind"], message: string): void {
    if (this.state === "over") return
    const exchange = this.#exchange
    this.fail(kind, message)
    exchange?.abort(message)
  }
}
