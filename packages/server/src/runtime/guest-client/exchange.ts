import type { ValResponse } from "../../domain/runs/runner.ts"
import type { GuestRequest } from "./request-head.ts"

/** Why there is no answer, or no more of it. */
export interface GuestFailure {
  /**
   * `unsendable`: the request cannot be written down; `body`: the body of the request broke off;
   * `closed`: there is no connection, or no longer; `invalid`: what came is no proper answer;
   * `aborted`: somebody asked for it.
   */
  readonly kind: "unsendable" | "body" | "closed" | "invalid" | "aborted"
  readonly message: string
}

/**
 * Hears what came of a request: one of these, once. What happens after the head is told by the
 * stream of the body.
 */
export interface ResponseListener {
  onAnswer(answer: ValResponse): void
  onFailure(failure: GuestFailure): void
}

/** What a request is sent on. */
interface Carrier {
  /** Ends the exchange, and whatever carries it. */
  break(kind: GuestFailure["kind"], message: string): void
}

/**
 * A request and its answer.
 *
 *   waiting ──▶ answered ──▶ over          the listener hears of the first step, whichever it is
 *      └────────────────────────▲
 */
export class Exchange {
  readonly request: GuestRequest
  readonly #listener: ResponseListener
  state: "waiting" | "answered" | "over" = "waiting"
  connection: Carrier | undefined

  constructor(request: GuestRequest, listener: ResponseListener) {
    this.request = request
    this.#listener = listener
  }

  answer(answer: ValResponse): void {
    if (this.state !== "waiting") return
    this.state = "answered"
    this.#listener.onAnswer(answer)
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

  /** Ends it now, whatever is still to come: the val sees that nobody waits for it. */
  abort(): void {
    if (this.state === "over") return
    const { connection } = this
    if (connection) connection.break("aborted", "it was ended from outside")
    else this.fail("aborted", "it was ended from outside")
  }
}
