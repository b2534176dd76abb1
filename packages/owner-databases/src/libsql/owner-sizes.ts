import { Loop, RecentMap } from "@hamlet/kit"
import type { LibsqlLimits } from "../database-limits.ts"
import {
  type LibsqlRegistry,
  type RegisteredDatabase,
  toNamespace,
} from "../libsql-protocol/libsql-registry.ts"
import type { DatabaseHome } from "../owner-databases.ts"

type Registry = Pick<LibsqlRegistry, "listOf" | "setBytes">

interface Sizes {
  readonly databases: Map<string, RegisteredDatabase>
  readonly readMs: number
}

/**
 * How large the databases of users on a libSQL server are. The server tells it with each write; its
 * own figures (`storage_bytes_used`) are minutes old. What other nodes write is noticed a bit later.
 */
export class OwnerSizes {
  readonly #registry: Registry
  readonly #limits: LibsqlLimits
  readonly #loop: Loop
  readonly #sizes: RecentMap<string, Sizes>
  /** The databases whose sizes are to be recorded, by namespace. */
  readonly #unrecorded = new Map<string, RegisteredDatabase>()

  constructor(registry: Registry, limits: LibsqlLimits, onError: (error: unknown) => void) {
    this.#registry = registry
    this.#limits = limits
    this.#sizes = new RecentMap(limits.ownersMax)
    this.#loop = new Loop({ round: () => this.#record(), failedMs: limits.recordMs, onError })
  }

  /** How large the database may become, with the others of the user; undefined if not known. */
  findRoom(home: DatabaseHome, bytesMax: number): number | undefined {
    const sizes = this.#sizes.get(home.ownerId)
    if (!sizes || performance.now() - sizes.readMs > this.#limits.sizesMsMax) return undefined
    const own = toNamespace(home)
    let others = 0
    for (const [namespace, { bytes }] of sizes.databases) if (namespace !== own) others += bytes
    // A database that is too large already may still be changed.
    return Math.max(bytesMax - others, sizes.databases.get(own)?.bytes ?? 0)
  }

  /** Reads the sizes of all databases of a user. */
  async read(ownerId: string): Promise<readonly RegisteredDatabase[]> {
    const databases = new Map<string, RegisteredDatabase>()
    // A size that is recorded while the registry is read may be in neither of them afterwards.
    const before = [...this.#unrecorded].filter(([, database]) => database.ownerId === ownerId)
    for (const database of await this.#registry.listOf(ownerId))
      databases.set(toNamespace(database), database)
    for (const [namespace, database] of [...before, ...this.#unrecorded])
      if (databases.has(namespace)) databases.set(namespace, database)
    const sizes = { databases, readMs: performance.now() }
    this.#sizes.set(ownerId, sizes)
    return [...databases.values()]
  }

  /** A database has this size now. */
  note({ ownerId, valId }: DatabaseHome, bytes: number): void {
    const database = { ownerId, ...(valId === undefined ? {} : { valId }), bytes }
    const namespace = toNamespace(database)
    const sizes = this.#sizes.get(ownerId)
    if (sizes?.databases.get(namespace)?.bytes === bytes) return
    sizes?.databases.set(namespace, database)
    this.#unrecorded.set(namespace, database)
    this.#loop.wakeIn(this.#limits.recordMs)
  }

  forget(home: DatabaseHome): void {
    this.#sizes.delete(home.ownerId)
    this.#unrecorded.delete(toNamespace(home))
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    await this.#record().catch((error) => this.#loop.report(error))
  }

  async #record(): Promise<void> {
    const databases = [...this.#unrecorded]
    try {
      await this.#registry.setBytes(databases.map(([, database]) => database))
    } catch (error) {
      // The next write of each of them records its size again.
      for (const [, { ownerId }] of databases) this.#sizes.delete(ownerId)
      throw error
    } finally {
      for (const [namespace, database] of databases)
        if (this.#unrecorded.get(namespace) === database) this.#unrecorded.delete(namespace)
    }
  }
}
