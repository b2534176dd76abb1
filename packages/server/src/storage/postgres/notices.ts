import type { SQL } from "bun"

/**
 * LISTEN and NOTIFY over a client of its own. Its connection for notices reconnects by itself once
 * it was established; until then, this class tries again.
 */
export class PostgresNotices {
  readonly #createClient: () => SQL
  readonly #retryMs: number
  readonly #subscriptions = new Set<Promise<SQL.ListenSubscription | undefined>>()
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
    let isEnded = false
    const subscription = this.#subscribe(channel, onNotice, () => isEnded || this.#isStopped)
    this.#subscriptions.add(subscription)
    return () => {
      isEnded = true
      this.#subscriptions.delete(subscription)
      void subscription.then((it) => it?.unlisten()).catch(() => {})
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const subscription of this.#subscriptions)
      await subscription.then((it) => it?.unlisten()).catch(() => {})
    await this.#client?.close({ timeout: 0 })
  }

  #connect(): SQL {
    this.#client ??= this.#createClient()
    return this.#client
  }

  async #subscribe(
    channel: string,
    onNotice: () => void,
    isOver: () => boolean,
  ): Promise<SQL.ListenSubscription | undefined> {
    while (!isOver()) {
      try {
        return await this.#connect().listen(channel, onNotice, onNotice)
      } catch {
        // The database is away, which others report.
        await Bun.sleep(this.#retryMs)
      }
    }
    return undefined
  }
}
