import { RateLimited } from "@hamlet/kit"
import type { EgressLimits } from "../egress-limits.ts"
import { Refusal } from "../policy/refusal.ts"

/**
 * Counts the bytes of one request: heads, and bodies without their chunk framing. Each method throws
 * a Refusal when a limit is reached.
 */
export class ByteMeter {
  readonly #limits: EgressLimits
  readonly #takeBytes: ((bytes: number) => void) | undefined
  sent = 0
  received = 0
  #untaken = 0

  /** `takeBytes` throws when the allowance is used up; undefined for no allowance. */
  constructor(limits: EgressLimits, takeBytes: ((bytes: number) => void) | undefined) {
    this.#limits = limits
    this.#takeBytes = takeBytes
  }

  /** Charges the head of the request at once: an account without allowance sends nothing. */
  start(bytes: number): void {
    this.sent = bytes
    this.#untaken = bytes
    this.#take()
  }

  countSent(bytes: number): void {
    this.sent += bytes
    const { bytesMax } = this.#limits
    if (this.sent > bytesMax) throw new Refusal(403, `it has more than ${bytesMax} bytes`)
    this.#count(bytes)
  }

  countReceived(bytes: number): void {
    this.received += bytes
    const { bytesMax } = this.#limits
    if (this.received > bytesMax)
      throw new Refusal(403, `the response has more than ${bytesMax} bytes`)
    this.#count(bytes)
  }

  /** Takes what was not taken yet, even from an allowance that is used up. */
  end(): void {
    if (this.#untaken === 0) return
    try {
      this.#take()
    } catch (error) {
      // The bytes have passed: there is nothing left to refuse.
      if (!(error instanceof Refusal)) throw error
    }
  }

  #count(bytes: number): void {
    this.#untaken += bytes
    if (this.#untaken >= this.#limits.takenBytes) this.#take()
  }

  #take(): void {
    const bytes = this.#untaken
    this.#untaken = 0
    try {
      this.#takeBytes?.(bytes)
    } catch (error) {
      const when = error instanceof RateLimited ? `, try again in ${error.retryAfterSeconds} s` : ""
      throw new Refusal(429, `the account has used up its outgoing traffic${when}`)
    }
  }
}
