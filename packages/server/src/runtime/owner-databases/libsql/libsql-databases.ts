import { AppError } from "../../../domain/app-error.ts"
import type { OwnerDatabases, SentSqlRequest, SqlOutcome } from "../../../domain/owner-databases.ts"
import type { StorageHome } from "../../../domain/storage-home.ts"
import { FairQueue, type Waiter } from "../../../shared/fair-queue.ts"
import { toOwnJson } from "../../../shared/hostile-input/bounded.ts"
import {
  createLibsqlRegistry,
  type LibsqlRegistry,
  toNamespace,
} from "../../../shared/libsql/libsql-registry.ts"
import {
  createLibsqlServer,
  type LibsqlOptions,
  type LibsqlReply,
  type LibsqlServer,
  LibsqlUnavailable,
  readPipeline,
} from "../../../shared/libsql/libsql-server.ts"
import type { WorkerOptions } from "../../worker-processes/worker-profile.ts"
import { type LibsqlLimits, libsqlLimits, statementLimits } from "../database-limits.ts"
import { assertIds, toRequestJson } from "../database-messages.ts"
import type { LibsqlWorkerReply, Plan, ReadCall } from "./libsql-messages.ts"
import { LibsqlStreams } from "./libsql-streams.ts"
import { endingOutcome, LibsqlWorkers, WorkerGone } from "./libsql-workers.ts"
import { OwnerSizes } from "./owner-sizes.ts"

/** The server, and what databases and their statements may use. */
export interface LibsqlDatabasesOptions {
  readonly server: LibsqlOptions
  /** The size of all databases of one user. */
  readonly bytesMax: number
  /** The time of one request. */
  readonly msMax: number
  readonly isolation: WorkerOptions["isolation"]
  readonly onWeak?: WorkerOptions["onWeak"]
  onError(error: unknown): void
  readonly limits?: Partial<LibsqlLimits>
}

/** A request that waits or runs. Its JSON may be megabytes, and is made once. */
interface Request extends StorageHome {
  readonly isSingle: boolean
  readonly bytesMax: number
  readonly json: string
}

type Job = Waiter<Request, SqlOutcome>

/**
 * The databases of users and of vals on a libSQL server, one namespace each, which all nodes share.
 *
 * ```
 *   request ──▶ worker: compile, decide ──▶ libSQL server: one transaction ──▶ worker: results
 *                  ▲ the tables, if the worker does not know them     │
 *                  └──────────────────────── they have changed ───────┘
 * ```
 * The workers decide what statements may do, with the same code as for databases on this machine, and
 * have no network; this process sends what they have compiled, and parses neither.
 */
export class LibsqlDatabases implements OwnerDatabases {
  readonly #options: LibsqlDatabasesOptions
  readonly #limits: LibsqlLimits
  readonly #server: LibsqlServer
  readonly #registry: LibsqlRegistry
  readonly #streams: LibsqlStreams
  readonly #sizes: OwnerSizes
  readonly #workers: LibsqlWorkers
  readonly #queue: FairQueue<Request, SqlOutcome>
  /** Requests under way, by owner. */
  readonly #running = new Map<string, number>()
  readonly #underWay = new Set<Promise<void>>()
  /** The size limit that this node has set for each namespace. */
  readonly #limited = new Map<string, number>()
  readonly #stopping = new AbortController()
  #isStopped = false

  constructor(options: LibsqlDatabasesOptions) {
    this.#options = options
    this.#limits = { ...libsqlLimits, ...options.limits }
    this.#server = createLibsqlServer(options.server)
    this.#registry = createLibsqlRegistry(this.#server)
    this.#streams = new LibsqlStreams(this.#server, this.#limits)
    this.#sizes = new OwnerSizes(this.#registry, this.#limits, options.onError)
    this.#queue = new FairQueue(this.#limits)
    this.#workers = new LibsqlWorkers(options, this.#limits)
  }

  async run(request: SentSqlRequest): Promise<SqlOutcome> {
    assertIds(request)
    if (this.#isStopped) return endingOutcome
    const { ownerId, valId, mode, bytesMax = this.#options.bytesMax } = request
    const json = toRequestJson({ ...request, bytesMax })
    const home = valId === undefined ? { ownerId } : { ownerId, valId }
    const about = { ...home, isSingle: mode === "single", bytesMax, json }
    const job = this.#queue.add(ownerId, about, { bytes: json.length })
    if (!job) return { kind: "overloaded" }
    this.#startJobs()
    return await job.promise
  }

  async sizeOf(ownerId: string): Promise<number> {
    assertIds({ ownerId })
    const databases = await translate("find the size of", () => this.#sizes.read(ownerId))
    return databases.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  async remove(home: StorageHome): Promise<void> {
    assertIds(home, "delete")
    await translate("delete", async () => {
      const all = await this.#registry.listOf(home.ownerId)
      for (const database of all) {
        if (home.valId !== undefined && database.valId !== home.valId) continue
        this.#sizes.forget(database)
        this.#limited.delete(toNamespace(database))
        await this.#server.removeNamespace(toNamespace(database))
        await this.#registry.remove(database)
      }
    })
  }

  /** Waits for the requests that run, up to `endMsMax`, and refuses all others. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const { resolve } of this.#queue.clear()) resolve(endingOutcome)
    const late = setTimeout(() => this.#stopping.abort(new Error("stopped")), this.#limits.endMsMax)
    await Promise.all(this.#underWay)
    clearTimeout(late)
    this.#streams.stop()
    await Promise.all([this.#sizes.stop(), this.#workers.stop()])
  }

  #startJobs(): void {
    const { atOnceMax, atOncePerOwnerMax } = this.#limits
    while (this.#underWay.size < atOnceMax) {
      const job = this.#queue.next((owner) => (this.#running.get(owner) ?? 0) < atOncePerOwnerMax)
      if (!job) return
      const working = this.#work(job)
      this.#underWay.add(working)
      void working.then(() => {
        this.#underWay.delete(working)
        this.#startJobs()
      })
    }
  }

  async #work({ key, about, resolve }: Job): Promise<void> {
    this.#running.set(key, (this.#running.get(key) ?? 0) + 1)
    const timer = AbortSignal.timeout(this.#options.msMax)
    try {
      const signal = AbortSignal.any([timer, this.#stopping.signal])
      resolve(await this.#perform(about, signal))
    } catch (error) {
      resolve(this.#toOutcome(error, timer))
    } finally {
      const left = (this.#running.get(key) ?? 1) - 1
      if (left === 0) this.#running.delete(key)
      else this.#running.set(key, left)
    }
  }

  #toOutcome(error: unknown, timer: AbortSignal): SqlOutcome {
    if (error instanceof WorkerGone) return error.outcome
    if (timer.aborted)
      return {
        kind: "failed",
        message: `interrupted: it took longer than ${this.#options.msMax / 1000} s`,
      }
    if (this.#stopping.signal.aborted)
      return { kind: "failed", message: "interrupted: the server is about to end" }
    if (error instanceof LibsqlUnavailable && error.cause) this.#options.onError(error)
    const message = error instanceof Error ? error.message : String(error)
    return { kind: "unavailable", message }
  }

  /** Plans, sends and reads, and starts again when the tables or the size have changed. */
  async #perform(request: Request, signal: AbortSignal): Promise<SqlOutcome> {
    const { bytesMax, isSingle } = request
    const busyUntilMs = performance.now() + this.#options.msMax / 2
    let schema: Uint8Array | undefined
    for (let attempt = 0; attempt < this.#limits.attemptsMax; ) {
      const pagesMax = this.#findPages(request, bytesMax)
      const room = pagesMax === undefined ? "" : `"pagesMax":${pagesMax},`
      const head = `{"kind":"plan",${room}"request":${request.json}}`
      const [plan, batch] = await this.#workers.call(request.ownerId, head, schema)
      schema = undefined
      let reply: LibsqlWorkerReply = plan
      let results: Buffer = batch
      if (plan.kind === "planned") {
        const call: ReadCall = {
          ...{ kind: "read", kinds: plan.kinds, isSingle, bytesMax },
          ...(plan.isRead ? {} : { pagesMax: pagesMax ?? 0 }),
        }
        const sent = await this.#exchange(request, plan, batch.toString(), call, signal)
        ;[reply, results] = sent
      }
      if (reply.kind !== "busy") attempt += 1
      switch (reply.kind) {
        case "busy":
          if (performance.now() > busyUntilMs)
            return { kind: "unavailable", message: reply.message }
          await Bun.sleep(this.#limits.busyMs)
          break
        case "done":
          if (reply.pages !== undefined) this.#sizes.note(request, reply.pages * pageBytes)
          return { kind: "done", json: results }
        case "outcome":
          return reply.outcome
        case "schema_needed": {
          const found = await this.#readSchema(request, bytesMax, signal)
          if (!(found instanceof Uint8Array)) return found
          schema = found
          break
        }
        case "room_needed":
          await this.#sizes.read(request.ownerId)
          await this.#limitNamespace(request, bytesMax)
          break
        case "larger":
          this.#sizes.note(request, reply.pages * pageBytes)
          break
      }
    }
    return { kind: "unavailable", message: "its tables change too often" }
  }

  /** Undefined where it is not known, or the limit of the namespace is another one. */
  #findPages(home: StorageHome, bytesMax: number): number | undefined {
    if (this.#limited.get(toNamespace(home)) !== bytesMax) return undefined
    const room = this.#sizes.findRoom(home, bytesMax)
    return room === undefined ? undefined : Math.max(2, Math.floor(room / pageBytes))
  }

  /** Sends a batch, and has its results read. */
  async #exchange(
    home: StorageHome,
    { isRead, isHeld }: Plan,
    batch: string,
    call: ReadCall,
    signal: AbortSignal,
  ): Promise<readonly [LibsqlWorkerReply, Buffer]> {
    const namespace = toNamespace(home)
    const options = { signal, bytesMax: this.#limits.replyBytesMax }
    if (!isHeld) {
      const { reply, baton } = await this.#retry(isRead, signal, () =>
        this.#streams.send(namespace, batch, options),
      )
      let isDone = false
      try {
        const read = await this.#read(home.ownerId, call, reply)
        isDone = read[0].kind === "done"
        return read
      } finally {
        this.#streams.release(namespace, baton, isDone)
      }
    }
    const { reply, baton } = await this.#retry(false, signal, () =>
      this.#streams.hold(namespace, batch, options),
    )
    let open = baton
    try {
      const read = await this.#read(home.ownerId, call, reply)
      if (baton === undefined || read[0].kind !== "done") return read
      open = undefined
      const ended = await this.#streams.commit(namespace, baton, options)
      // Foreign keys may be checked at the end only.
      const failure = ended.kind === "done" ? findFailure(ended) : lost
      return failure === undefined ? read : [failure, Buffer.alloc(0)]
    } finally {
      // Closing it ends the transaction without a change.
      this.#streams.release(namespace, open, false)
    }
  }

  #read(
    ownerId: string,
    call: ReadCall,
    reply: LibsqlReply,
  ): Promise<readonly [LibsqlWorkerReply, Buffer]> {
    switch (reply.kind) {
      case "done":
        return this.#workers.call(ownerId, toOwnJson(call), reply.bytes)
      case "no_namespace":
        return Promise.resolve([{ kind: "schema_needed" }, Buffer.alloc(0)])
      case "no_stream":
        return Promise.resolve([lost, Buffer.alloc(0)])
      case "too_large":
        return Promise.resolve([tooLarge, Buffer.alloc(0)])
    }
  }

  /** What was certainly not done, or only reads, is tried again: the server may be starting. */
  async #retry<T>(isRead: boolean, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    for (const pauseMs of this.#limits.retryMs) {
      try {
        return await act()
      } catch (error) {
        const canRepeat = error instanceof LibsqlUnavailable && (isRead || !error.isSent)
        if (!canRepeat || signal.aborted) throw error
        await Bun.sleep(pauseMs)
      }
    }
    return await act()
  }

  /** The tables of a database, which is created if it does not exist. */
  async #readSchema(
    home: StorageHome,
    bytesMax: number,
    signal: AbortSignal,
  ): Promise<Uint8Array | SqlOutcome> {
    const namespace = toNamespace(home)
    const options = { signal, bytesMax: this.#limits.replyBytesMax }
    const { reply, baton } = await this.#retry(true, signal, () =>
      this.#streams.send(namespace, schemaRequests, options),
    )
    this.#streams.release(namespace, baton, true)
    if (reply.kind === "done") return reply.bytes
    if (reply.kind !== "no_namespace")
      return { kind: "unavailable", message: "its tables cannot be read" }
    if (home.valId !== undefined) {
      const { databasesMax } = this.#limits
      const all = await this.#registry.listOf(home.ownerId)
      if (all.filter(({ valId }) => valId !== undefined).length >= databasesMax)
        return { kind: "full", message: `your vals have ${databasesMax} databases already` }
    }
    await this.#registry.add(home)
    await this.#server.createNamespace(namespace, bytesMax)
    this.#limited.set(namespace, bytesMax)
    return this.#readSchema(home, bytesMax, signal)
  }

  /** The server's own limit, beside the check in each batch. */
  async #limitNamespace(home: StorageHome, bytesMax: number): Promise<void> {
    const namespace = toNamespace(home)
    if (this.#limited.get(namespace) === bytesMax) return
    await this.#server.limitNamespace(namespace, bytesMax)
    this.#streams.forget(namespace)
    this.#limited.delete(namespace)
    this.#limited.set(namespace, bytesMax)
    const [oldest = ""] = this.#limited.keys()
    if (this.#limited.size > this.#limits.ownersMax) this.#limited.delete(oldest)
  }
}

/** The pages of a libSQL server have this size. */
const pageBytes = 4096

const lost: LibsqlWorkerReply = {
  kind: "outcome",
  outcome: { kind: "unavailable", message: "the libSQL server has ended its connection" },
}

const tooLarge: LibsqlWorkerReply = {
  kind: "outcome",
  outcome: {
    kind: "failed",
    message: `the result is larger than ${statementLimits.resultBytesMax} bytes`,
  },
}

/** The tables at one moment, with their version. */
const schemaRequests = [
  "begin",
  "pragma schema_version",
  "select type, name, sql from sqlite_schema where sql is not null",
  "rollback",
]
  .map((sql) => toOwnJson({ type: "execute", stmt: { sql } }))
  .join(",")

/** Why the end of a transaction has failed. */
function findFailure(reply: LibsqlReply): LibsqlWorkerReply | undefined {
  try {
    readPipeline(reply)
    return undefined
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    const message = text.replace(/^the libSQL server failed: (?:SQLite error: )?/, "")
    const isConstraint = message.includes("constraint failed")
    return {
      kind: "outcome",
      outcome: isConstraint
        ? { kind: "failed", message, sqliteCode: "SQLITE_CONSTRAINT" }
        : { kind: "unavailable", message },
    }
  }
}

/** An error of the server is expected, and not ours. */
async function translate<T>(verb: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof LibsqlUnavailable)) throw error
    throw new AppError("database_unavailable", `Cannot ${verb} the database: ${error.message}`, {
      cause: error,
    })
  }
}
