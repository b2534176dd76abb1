import type { Authenticated, TokenStore } from "./tokens.ts"

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
  readonly #onError: (error: unknown) => void
  #pending = new Map<string, number>()
  #timer: Timer | undefined
  #writing: Promise<unknown> = Promise.resolve()

  constructor(tokens: TokenStore, onError: (error: unknown) => void) {
    this.#tokens = tokens
    this.#onError = onError
  }

  /** No user sees the token of a run, so its uses are not written. */
  note(
    { tokenId, lastUsedAt, isOfRun }: Pick<Authenticated, "tokenId" | "lastUsedAt" | "isOfRun">,
    at: number,
  ): void {
    if (isOfRun) return
    if (lastUsedAt !== null && at - lastUsedAt < limits.resolutionMs) return
    this.#pending.set(tokenId, at)
    this.#timer ??= setTimeout(() => this.#flush(), limits.delayMs)
  }

  /** Writes what is still to be written, and waits for what is being written. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    this.#flush()
    await this.#writing
  }

  #flush(): void {
    this.#timer = undefined
    const uses = this.#pending
    this.#pending = new Map()
    if (uses.size === 0) return
    // A lost note is no harm: the next use makes another.
    const written = this.#tokens.touch(uses).catch(this.#onError)
    this.#writing = Promise.all([this.#writing, written])
  }
}
