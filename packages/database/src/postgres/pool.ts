import type { SQL } from "bun"

/**
 * A client that can be replaced by a new one. Bun replaces broken connections, but cannot detect
 * those that no longer respond.
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
   * Replaces the client of a connection that no longer responds: its other connections probably do
   * not respond either.
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
