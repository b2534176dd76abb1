import { Loop } from "@hamlet/kit"
import type { SQL } from "bun"

/**
 * LISTEN and NOTIFY over a client of its own. Its connection for notices reconnects by itself once
 * it was established; until then, this class tries again.
 */
export class PostgresNotices {
  readonly #createClient: () => SQL
  readonly #retryMs: number
  /** Functions that end the subscriptions. */
  readonly #ends = new Set<() => Promise<void>>()
  #client: SQL | undefined
  #isStopped = false

  constructor(createClient: () => SQL, retryMs: number) {
    this.#createClient = createClient
    this.#retryMs = retryMs
  }

  notify(channel: string): void {
    if (this.#isStopped) return
    // A notice may get lost: its listeners poll as well.
    this.#connect()
      .notify(channel)
      .catch(() => {})
  }

  listen(channel: string, onNotice: () => void): () => void {
    let subscription: SQL.ListenSubscription | undefined
    const loop = new Loop({
      round: async () => {
        subscription = await this.#connect().listen(channel, onNotice, onNotice)
      },
      failedMs: this.#retryMs,
      // The database is away, which others report.
      onError() {},
    })
    const end = async () => {
      this.#ends.delete(end)
      await loop.stop()
      await subscription?.unlisten().catch(() => {})
    }
    this.#ends.add(end)
    loop.wake()
    return () => void end()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const end of this.#ends) await end()
    await this.#client?.close({ timeout: 0 })
  }

  #connect(): SQL {
    this.#client ??= this.#createClient()
    return this.#client
  }
}
