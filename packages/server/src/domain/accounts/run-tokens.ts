import type { Scope } from "@hamlet/contract"
import { Loop } from "@hamlet/kit"
import type { Clock } from "../clock.ts"
import { hashToken } from "./token-text.ts"
import {
  type FoundToken,
  type LiveTokens,
  makeToken,
  type NewTokenRecord,
  type TokenStore,
} from "./tokens.ts"

/** The node whose processes have run tokens. */
export interface RunTokenNode extends Clock {
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
  readonly found: FoundToken
  readonly record: NewTokenRecord
  /** Whether it may be in the database. */
  isWritten: boolean
}

/**
 * The scopes of run tokens: a val may read what its owner can read, write to its owner's storage,
 * and use the services of the server on its owner's account.
 */
export const runScopes: readonly Scope[] = [
  "val:read",
  "user:read",
  "run:read",
  "blob:read",
  "blob:write",
  "sqlite:read",
  "sqlite:write",
  "email:write",
  "openai:write",
]

/**
 * The tokens of vals, one per process. On this node they are valid at once and revoked at once. The
 * database, where other nodes look them up, is updated in the background, so that no val waits for
 * the disk before it starts.
 */
export class RunTokens implements LiveTokens {
  readonly #store: TokenStore
  readonly #node: RunTokenNode
  readonly #delayMs: number
  readonly #loop: Loop
  /** By token hash. */
  readonly #live = new Map<string, LiveToken>()
  /** Hash and id of revoked tokens that may still be in the database. */
  readonly #ended = new Map<string, string>()
  #toAdd = new Map<string, LiveToken>()

  constructor(
    store: TokenStore,
    node: RunTokenNode,
    { delayMs, retryMs }: RunTokenDelays = delays,
  ) {
    this.#store = store
    this.#node = node
    this.#delayMs = delayMs
    const { onError } = node
    this.#loop = new Loop({ round: () => this.#write(), failedMs: retryMs, onError })
  }

  /**
   * Creates a token for a process that runs a val of the user, or unsaved code without a `valId`.
   * Returns its secret string.
   */
  issue(user: { readonly id: string; readonly username: string }, valId?: string): string {
    const { now, lifeMsMax } = this.#node
    const { record: made, text } = makeToken(this.#node, user.id, {
      name: "run",
      scopes: runScopes,
      expiresAt: now() + lifeMsMax,
    })
    const record = { ...made, valId }
    const { id: tokenId, hash, expiresAt } = record
    const scopes = new Set(runScopes)
    const found: FoundToken = {
      tokenId,
      kind: "token",
      hash,
      scopes,
      expiresAt,
      lastUsedAt: null,
      userId: user.id,
      username: user.username,
      roles: new Map([[user.id, "owner"]]),
      isOfRun: true,
      valId: valId ?? null,
      isSuspended: false,
      ownerId: null,
      ownerName: null,
      parentId: null,
      parentExpiresAt: null,
    }
    const token = { found, record, isWritten: false }
    this.#live.set(hash, token)
    this.#toAdd.set(hash, token)
    this.#loop.wakeIn(this.#delayMs)
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
    this.#loop.wakeIn(this.#delayMs)
  }

  find(hash: string): FoundToken | "ended" | undefined {
    return this.#live.get(hash)?.found ?? (this.#ended.has(hash) ? "ended" : undefined)
  }

  /** Revokes all tokens, also those in the database. */
  async stop(): Promise<void> {
    this.#live.clear()
    this.#toAdd.clear()
    await this.#loop.stop()
    await this.#store.removeRunTokensOf(this.#node.nodeId).catch(this.#node.onError)
  }

  async #write(): Promise<void> {
    const added = this.#toAdd
    const removed = [...this.#ended]
    if (added.size + removed.length === 0) return
    this.#toAdd = new Map()
    // Set before the write: even if it fails, the database may have stored them.
    for (const token of added.values()) token.isWritten = true
    const records = Array.from(added.values(), ({ record }) => record)
    const ids = removed.map(([, id]) => id)
    try {
      await this.#store.changeRunTokens(this.#node.nodeId, records, ids)
    } catch (error) {
      for (const [hash, token] of added) if (this.#live.has(hash)) this.#toAdd.set(hash, token)
      throw error
    }
    for (const [hash] of removed) this.#ended.delete(hash)
  }
}
