import { Loop } from "@hamlet/kit"
import type { Caller } from "../access/caller.ts"
import type { TokenStore } from "./tokens.ts"

const limits = {
  /**
   * A use is recorded when the last recorded one is older than this. Every record is a write, and
   * seconds do not matter.
   */
  resolutionMs: 60_000,
  /** How long a use waits to be written together with others. */
  delayMs: 1_000,
}

/** Notes when tokens are used, in batches, without making a request wait. */
export class TokenUses {
  readonly #tokens: TokenStore
  readonly #loop: Loop
  #pending = new Map<string, number>()

  constructor(tokens: TokenStore, onError: (error: unknown) => void) {
    this.#tokens = tokens
    this.#loop = new Loop({ round: () => this.#write(), onError })
  }

  /** No user sees the token of a run, so its uses are not written. */
  note({ tokenId, lastUsedAt = null, isOfRun }: Caller, at: number): void {
    if (isOfRun) return
    if (lastUsedAt !== null && at - lastUsedAt < limits.resolutionMs) return
    this.#pending.set(tokenId, at)
    this.#loop.wakeIn(limits.delayMs)
  }

  /** Writes what is still to be written, and waits for what is being written. */
  async stop(): Promise<void> {
    await this.#loop.stop()
    await this.#write().catch((error) => this.#loop.report(error))
  }

  async #write(): Promise<void> {
    // A lost note is no harm: the next use makes another.
    const uses = this.#pending
    this.#pending = new Map()
    if (uses.size > 0) await this.#tokens.touch(uses)
  }
}
