import type { Scope } from "@hamlet/contract"
import {
  hashToken,
  type LiveTokens,
  makeToken,
  type NewTokenRecord,
  type TokenDeps,
  type TokenHolder,
} from "./tokens.ts"

/** What run tokens need. */
export interface RunTokenDeps extends TokenDeps {
  readonly nodeId: string
  /** The maximum lifetime of a process. The tokens of a node that crashes expire after it. */
  readonly lifeMsMax: number
  onError(error: unknown): void
}

/** When changes are written. */
export interface RunTokenDelays {
  /**
   * How long a change waits to be written together with others. Tokens of processes that end before
   * that are never written.
   */
  readonly delayMs: number
  /** The delay before the next attempt when a write failed. */
  readonly retryMs: number
}

const delays: RunTokenDelays = { delayMs: 100, retryMs: 5_000 }

interface LiveToken {
  readonly holder: TokenHolder
  readonly record: NewTokenRecord
  /** Whether it may be in the database. */
  isWritten: boolean
}

/**
 * The scopes of run tokens: a val may read what its owner can read, write to its owner's storage,
 * and use the services of the server on its owner's account.
 */
export const runScopes: readonly Scope[] = [
  ...(["val:read", "user:read", "run:read"] as const),
  ...(["blob:read", "blob:write", "sqlite:read", "sqlite:write"] as const),
  ...(["email:write", "openai:write"] as const),
]

/**
 * The tokens of vals, one per process. On this node they are valid at once and revoked at once. The
 * database, where other nodes look them up, is updated in the background, so that no val waits for
 * the disk before it starts.
 */
export class RunTokens implements LiveTokens {
  readonly #deps: RunTokenDeps
  readonly #delays: RunTokenDelays
  /** By token hash. */
  readonly #live = new Map<string, LiveToken>()
  /** Hash and id of revoked tokens that may still be in the database. */
  readonly #ended = new Map<string, string>()
  #toAdd = new Map<string, LiveToken>()
  #timer: Timer | undefined
  #writing: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(deps: RunTokenDeps, { delayMs, retryMs }: RunTokenDelays = delays) {
    this.#deps = deps
    this.#delays = { delayMs, retryMs }
  }

  /** Creates a token for a process that runs a val of the user. Returns its secret string. */
  issue(user: { readonly id: string; readonly username: string }): string {
    const { now, lifeMsMax } = this.#deps
    const { record, text } = makeToken(this.#deps, user.id, {
      name: "run",
      scopes: runScopes,
      expiresAt: now() + lifeMsMax,
    })
    const { id: tokenId, hash, expiresAt } = record
    const scopes = new Set(runScopes)
    const holder: TokenHolder = {
      ...{
        tokenId,
        kind: "token",
        hash,
        scopes,
        expiresAt,
        lastUsedAt: null,
        userId: user.id,
        username: user.username,
        isOfRun: true,
        isSuspended: false,
      },
      ...{ parentId: null, parentExpiresAt: null },
    }
    const token = { holder, record, isWritten: false }
    this.#live.set(hash, token)
    this.#toAdd.set(hash, token)
    this.#schedule()
    return text
  }

  /** Revokes the token of a process that has ended. */
  end(text: string): void {
    const hash = hashToken(text)
    const token = this.#live.get(hash)
    if (!token) return
    this.#live.delete(hash)
    this.#toAdd.delete(hash)
    if (!token.isWritten) return
    this.#ended.set(hash, token.record.id)
    this.#schedule()
  }

  find(hash: string): TokenHolder | "ended" | undefined {
    return this.#live.get(hash)?.holder ?? (this.#ended.has(hash) ? "ended" : undefined)
  }

  /** Revokes all tokens, also those in the database. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#live.clear()
    this.#toAdd.clear()
    await this.#writing
    await this.#deps.tokens.removeRunTokensOf(this.#deps.nodeId).catch(this.#deps.onError)
  }

  #schedule(delayMs = this.#delays.delayMs): void {
    if (this.#isStopped || this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#writing = this.#write()
    }, delayMs)
  }

  async #write(): Promise<void> {
    const added = this.#toAdd
    const removed = [...this.#ended]
    this.#toAdd = new Map()
    // Set before the write: even if it fails, the database may have stored them.
    for (const token of added.values()) token.isWritten = true
    const records = Array.from(added.values(), ({ record }) => record)
    let { delayMs } = this.#delays
    try {
      const ids = removed.map(([, id]) => id)
      await this.#deps.tokens.changeRunTokens(this.#deps.nodeId, records, ids)
      for (const [hash] of removed) this.#ended.delete(hash)
    } catch (error) {
      this.#deps.onError(error)
      for (const [hash, token] of added) if (this.#live.has(hash)) this.#toAdd.set(hash, token)
      delayMs = this.#delays.retryMs
    }
    this.#timer = undefined
    if (this.#toAdd.size + this.#ended.size > 0) this.#schedule(delayMs)
  }
}
