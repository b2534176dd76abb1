import { rm } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { parseOwnJson } from "@hamlet/kit"
import { type WorkerOptions, type WorkerOutcome, WorkerProcessPool } from "@hamlet/sandbox"
import { type DatabaseLimits, databaseLimits } from "./database-limits.ts"
import {
  assertIds,
  type DatabaseProcessSettings,
  type DatabaseResponse,
  type MissingDatabase,
  toFailedOutcome,
  toRequestJson,
} from "./database-messages.ts"
import { countOwnedBytes, fileEnds, toDatabasePath, toValFolder } from "./database-paths.ts"
import type {
  DatabaseHome,
  DatabaseHomes,
  OwnerDatabases,
  SentSqlRequest,
  SqlOutcome,
} from "./owner-databases.ts"

const programPath = fileURLToPath(new URL("./worker/database-main.ts", import.meta.url))

/** Where the databases are, and what they and their statements may use. */
export interface DatabasePoolOptions {
  readonly folder: string
  /** The size of all databases of one user. */
  readonly bytesMax: number
  /** The time of one request. */
  readonly msMax: number
  /** Whether several machines use the folder. */
  readonly isShared: boolean
  readonly homes: DatabaseHomes
  readonly isolation: WorkerOptions["isolation"]
  readonly onWeak?: WorkerOptions["onWeak"]
  readonly limits?: Partial<DatabaseLimits>
}

/**
 * The databases of users and of vals: one file each, and worker processes that have some of them
 * open. The files of a user's vals are in a folder of the user.
 *
 * A process that is killed loses nothing that was acknowledged: what was not committed is not there
 * when the database is opened next.
 */
export class DatabasePool implements OwnerDatabases {
  readonly #options: DatabasePoolOptions
  readonly #limits: DatabaseLimits
  readonly #processes: WorkerProcessPool

  constructor(options: DatabasePoolOptions) {
    const { folder, msMax, isolation, onWeak } = options
    this.#options = options
    this.#limits = { ...databaseLimits, ...options.limits }
    this.#processes = new WorkerProcessPool({
      isolation,
      program: programPath,
      folder,
      onWeak,
      limits: { ...this.#limits, requestMsMax: msMax },
      toSettings: (innerFolder = folder) => this.#toSettings(innerFolder),
      // Its statements may have been committed.
      isRepeatable: false,
    })
  }

  /** The ids of the processes. */
  get pids(): readonly number[] {
    return this.#processes.pids
  }

  async run(request: SentSqlRequest): Promise<SqlOutcome> {
    assertIds(request)
    const outcome = await this.#send(request, false)
    return outcome.kind === "missing" ? this.#create(request) : outcome
  }

  sizeOf(ownerId: string): Promise<number> {
    assertIds({ ownerId })
    return countOwnedBytes(this.#options.folder, ownerId)
  }

  async remove(home: DatabaseHome): Promise<void> {
    assertIds(home, "delete")
    const { folder } = this.#options
    const path = toDatabasePath(folder, home)
    // A process may still have the files open. What it writes to them is lost.
    await Promise.all(fileEnds.map((end) => rm(`${path}${end}`, { force: true })))
    if (home.valId === undefined)
      await rm(toValFolder(folder, home.ownerId), { recursive: true, force: true })
  }

  /** Waits for the requests that run, up to `endMsMax`, and refuses all others. */
  stop(): Promise<void> {
    return this.#processes.stop()
  }

  /**
   * Runs the first request of a database. A home that is deleted after the second check has a
   * database, which its deletion removes.
   */
  async #create(request: SentSqlRequest): Promise<SqlOutcome> {
    const { homes } = this.#options
    if (!(await homes.exists(request))) return { kind: "gone" }
    const outcome = await this.#send(request, true)
    if (outcome.kind !== "missing" && (await homes.exists(request))) return outcome
    await this.remove(request)
    return { kind: "gone" }
  }

  async #send(request: SentSqlRequest, mayCreate: boolean): Promise<SqlOutcome | MissingDatabase> {
    try {
      const json = toRequestJson({ ...request, mayCreate })
      return this.#toOutcome(await this.#processes.run(request.ownerId, json))
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return { kind: "unavailable", message }
    }
  }

  #toSettings(folder: string): DatabaseProcessSettings {
    const { bytesMax, isShared, msMax } = this.#options
    const { cachedOwnersMax, databasesMax } = this.#limits
    return {
      folder,
      bytesMax,
      isShared,
      busyMsMax: Math.floor(msMax / 2),
      openMax: cachedOwnersMax,
      databasesMax,
    }
  }

  #toOutcome(outcome: WorkerOutcome): SqlOutcome | MissingDatabase {
    if (outcome.kind !== "responded")
      return toFailedOutcome(outcome, this.#options.msMax, this.#limits.memoryBytesMax)
    const response = parseOwnJson(outcome.head) as DatabaseResponse
    return response.kind === "done" ? { kind: "done", json: outcome.bytes } : response
  }
}
