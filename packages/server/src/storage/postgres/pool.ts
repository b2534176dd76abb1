import type { SQL } from "bun"

/**
 * A client that can be exchanged for a new one. Bun replaces connections that broke, but cannot
 * know of those that fell silent.
 */
export class PostgresPool {
  readonly #createClient: () => SQL
  readonly #graceMs: number
  #client: SQL

  constructor(createClient: () => SQL, options: { readonly graceMs: number }) {
    this.#createClient = createClient
    this.#graceMs = options.graceMs
    this.#client = createClient()
  }

  get client(): SQL {
    return this.#client
  }

  /**
   * Stops using the client in which a connection fell silent: most likely the others go the same
   * way.
   */
  replace(silent: SQL): void {
    if (this.#client !== silent) return
    this.#client = this.#createClient()
    void silent.close({ timeout: this.#graceMs / 1_000 })
  }

  async stop(timeoutMs: number): Promise<void> {
    await this.#client.close({ timeout: timeoutMs / 1_000 })
  }
}
