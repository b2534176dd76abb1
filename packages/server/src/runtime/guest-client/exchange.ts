import type { ValResponse } from "../../domain/runs/runner.ts"
import type { GuestRequest } from "./request-head.ts"

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

/** The connection of an exchange. */
interface ExchangeConnection {
  /** Ends the exchange with a failure, and the connection. */
  break(kind: GuestFailure["kind"], message: string): void
}

/**
 * A request and its response.
 *
 *   waiting ──▶ responded ──▶ over          the listener is called for the first step
 *      └─────────────────────────▲
 */
export class Exchange {
  readonly request: GuestRequest
  readonly #listener: ResponseListener
  state: "waiting" | "responded" | "over" = "waiting"
  connection: ExchangeConnection | undefined

  constructor(request: GuestRequest, listener: ResponseListener) {
    this.request = request
    this.#listener = listener
  }

  respond(response: ValResponse): void {
    if (this.state !== "waiting") return
    this.state = "responded"
    this.#listener.onResponse(response)
  }

  end(): void {
    this.state = "over"
    this.connection = undefined
  }

  fail(kind: GuestFailure["kind"], message: string): void {
    const wasWaiting = this.state === "waiting"
    this.end()
    if (wasWaiting) this.#listener.onFailure({ kind, message })
  }

  /** Aborts the request. The val sees that its client has closed the connection. */
  abort(): void {
    if (this.state === "over") return
    const { connection } = this
    if (connection) connection.break("aborted", "the request was aborted")
    else this.fail("aborted", "the request was aborted")
  }
}
