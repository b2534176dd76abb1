import { RateLimited } from "../../../domain/limits/rate-limit.ts"
import type { EgressLimits } from "../egress-limits.ts"
import { Refusal } from "../policy/refusal.ts"

/** What is counted against. */
export interface MeterDeps {
  readonly limits: Pick<EgressLimits, "bytesMax" | "takenBytes">
  /** Takes bytes from the allowance of an account; throws when there is nothing left. */
  takeBytes(ownerId: string, bytes: number): void
}

/** Counts the bytes of one request: heads, and bodies without their chunks. */
export class Meter {
  readonly #deps: MeterDeps
  readonly #ownerId: string | undefined
  sent = 0
  received = 0
  #untaken = 0

  /** Without an owner, nobody's allowance is asked. */
  constructor(deps: MeterDeps, ownerId: string | undefined) {
    this.#deps = deps
    this.#ownerId = ownerId
  }

  /** Asks the allowance even for little, so that whoever has none left gets nowhere. */
  begin(bytes: number): Refusal | undefined {
    this.sent = bytes
    this.#untaken = bytes
    return this.#take()
  }

  send(bytes: number): Refusal | undefined {
    this.sent += bytes
    const { bytesMax } = this.#deps.limits
    if (this.sent > bytesMax) return new Refusal(403, `it has more than ${bytesMax} bytes`)
    return this.#count(bytes)
  }

  receive(bytes: number): Refusal | undefined {
    this.received += bytes
    const { bytesMax } = this.#deps.limits
    if (this.received > bytesMax)
      return new Refusal(403, `the answer has more than ${bytesMax} bytes`)
    return this.#count(bytes)
  }

  /** What has passed counts, even if there was less left. */
  end(): void {
    if (this.#untaken > 0) this.#take()
  }

  #count(bytes: number): Refusal | undefined {
    this.#untaken += bytes
    return this.#untaken >= this.#deps.limits.takenBytes ? this.#take() : undefined
  }

  #take(): Refusal | undefined {
    const bytes = this.#untaken
    this.#untaken = 0
    try {
      if (this.#ownerId !== undefined) this.#deps.takeBytes(this.#ownerId, bytes)
      return undefined
    } catch (error) {
      const when = error instanceof RateLimited ? `, try again in ${error.retryAfterSeconds} s` : ""
      return new Refusal(429, `the account has used up its outgoing traffic${when}`)
    }
  }
}
