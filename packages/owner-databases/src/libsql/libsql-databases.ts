import { RecentMap, Refused, toOwnJson } from "@hamlet/kit"
import type { WorkerOptions } from "@hamlet/sandbox"
import { type LibsqlLimits, libsqlLimits } from "../database-limits.ts"
import { assertIds, endingOutcome } from "../database-messages.ts"
import {
  createLibsqlRegistry,
  type LibsqlRegistry,
  toNamespace,
} from "../libsql-protocol/libsql-registry.ts"
import {
  createLibsqlServer,
  type LibsqlOptions,
  type LibsqlServer,
  LibsqlUnavailable,
} from "../libsql-protocol/libsql-server.ts"
import type {
  DatabaseHome,
  DatabaseHomes,
  OwnerDatabases,
  SentSqlRequest,
  SqlOutcome,
} from "../owner-databases.ts"
import {
  describeDoneTable,
  doneBytesMax,
  findDone,
  type OwnStatement,
  toDoneTableState,
} from "../worker/done-requests.ts"
import { toValue } from "../worker/libsql/plan-batch.ts"
import { KnownStatements, noteQuick } from "./known-statements.ts"
import { LibsqlClient } from "./libsql-client.ts"
import { LibsqlExchange } from "./libsql-exchange.ts"
import type { LibsqlWorkerReply, ReadCall } from "./libsql-messages.ts"
import { type Job, LibsqlQueue } from "./libsql-queue.ts"
import { planKnown, planTogether, type Request, readRequest } from "./libsql-request.ts"
import { LibsqlStreams } from "./libsql-streams.ts"
import { LibsqlWorkers, WorkerGone } from "./libsql-workers.ts"
import { OwnerSizes } from "./owner-sizes.ts"

/** The server, and what databases and their statements may use. */
export interface LibsqlDatabasesOptions {
  readonly server: LibsqlOptions
  readonly homes: DatabaseHomes
  /** The size of all databases of one user. */
  readonly bytesMax: number
  /** The time of one request. */
  readonly msMax: number
  readonly isolation: WorkerOptions["isolation"]
  readonly onWeak?: WorkerOptions["onWeak"]
  onError(error: unknown): void
  readonly limits?: Partial<LibsqlLimits>
}

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
  readonly #client = new LibsqlClient()
  readonly #server: LibsqlServer
  readonly #registry: LibsqlRegistry
  readonly #streams: LibsqlStreams
  readonly #sizes: OwnerSizes
  readonly #workers: LibsqlWorkers
  readonly #exchange: LibsqlExchange
  readonly #known = new KnownStatements()
  readonly #queue: LibsqlQueue
  readonly #underWay = new Set<Promise<void>>()
  /** The size limit that this node has set for each namespace. */
  readonly #limited: RecentMap<string, number>
  /** One for each that is under way. */
  readonly #stoppers = new Set<AbortController>()
  #isStopped = false

  constructor(options: LibsqlDatabasesOptions) {
    this.#options = options
    this.#limits = { ...libsqlLimits, ...options.limits }
    this.#limited = new RecentMap(this.#limits.ownersMax)
    this.#server = createLibsqlServer(options.server, (request) => this.#client.post(request))
    this.#registry = createLibsqlRegistry(this.#server)
    this.#streams = new LibsqlStreams(this.#server, this.#limits)
    this.#sizes = new OwnerSizes(this.#registry, this.#limits, options.onError)
    this.#queue = new LibsqlQueue(this.#known, this.#limits)
    this.#workers = new LibsqlWorkers(options, this.#limits)
    this.#exchange = new LibsqlExchange(this.#streams, this.#workers, this.#limits)
  }

  async run(request: SentSqlRequest): Promise<SqlOutcome> {
    assertIds(request)
    if (this.#isStopped) return endingOutcome
    const { bytesMax = this.#options.bytesMax } = request
    const job = this.#queue.add(readRequest({ ...request, bytesMax }))
    if (!job) return { kind: "overloaded" }
    this.#startJobs()
    return await job.promise
  }

  async sizeOf(ownerId: string): Promise<number> {
    assertIds({ ownerId })
    const databases = await translate("find the size of", () => this.#sizes.read(ownerId))
    return databases.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  async remove(home: DatabaseHome): Promise<void> {
    assertIds(home, "delete")
    await translate("delete", async () => {
      const { ownerId, valId } = home
      const ofVals = valId === undefined ? await this.#registry.listOf(ownerId) : []
      for (const database of ofVals) await this.#remove(database)
      // The database is removed even if the registry does not have it: one that is just being
      // created may be missing there.
      await this.#remove(home)
    })
  }

  async #remove(home: DatabaseHome): Promise<void> {
    const namespace = toNamespace(home)
    this.#sizes.forget(home)
    this.#limited.delete(namespace)
    await this.#server.removeNamespace(namespace)
    this.#streams.forget(namespace)
    await this.#registry.remove(home)
  }

  /** Waits for the requests that run, up to `endMsMax`, and refuses all others. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const { resolve } of this.#queue.clear()) resolve(endingOutcome)
    const timer = setTimeout(() => {
      for (const stopper of this.#stoppers) stopper.abort()
    }, this.#limits.endMsMax)
    await Promise.all(this.#underWay)
    clearTimeout(timer)
    this.#streams.stop()
    await Promise.all([this.#sizes.stop(), this.#workers.stop()])
    this.#client.stop()
  }

  #startJobs(): void {
    while (this.#underWay.size < this.#limits.atOnceMax) {
      const working = this.#queue.start((jobs) => this.#work(jobs))
      if (!working) return
      this.#underWay.add(working)
      void working.then(() => {
        this.#underWay.delete(working)
        this.#startJobs()
      })
    }
  }

  /** Performs a request, or several of the same kind together. Never rejects. */
  async #work(jobs: readonly Job[]): Promise<void> {
    const [{ about, resolve }] = jobs as [Job]
    const stopper = new AbortController()
    this.#stoppers.add(stopper)
    const timer = setTimeout(() => stopper.abort(late), this.#options.msMax)
    try {
      if (jobs.length > 1) await this.#performTogether(jobs, stopper.signal)
      else resolve(await this.#perform(about, stopper.signal))
    } catch (error) {
      const outcome = this.#toOutcome(error, stopper.signal)
      for (const job of jobs) job.resolve(outcome)
    } finally {
      clearTimeout(timer)
      this.#stoppers.delete(stopper)
    }
  }

  #toOutcome(error: unknown, signal: AbortSignal): SqlOutcome {
    if (error instanceof WorkerGone) return error.outcome
    if (signal.reason === late)
      return {
        kind: "failed",
        message: `interrupted: it took longer than ${this.#options.msMax / 1000} s`,
      }
    if (signal.aborted)
      return { kind: "failed", message: "interrupted: the server is about to end" }
    if (error instanceof LibsqlUnavailable && error.cause) this.#options.onError(error)
    const message = error instanceof Error ? error.message : String(error)
    return { kind: "unavailable", message }
  }

  /** Performs requests together. Requests that fail together wait again, each for itself. */
  async #performTogether(jobs: readonly Job[], signal: AbortSignal): Promise<void> {
    const sinceMs = performance.now()
    const known = jobs.map(({ about }) => this.#known.find(about))
    const [{ about: first }] = jobs as [Job]
    const planned = planTogether(
      jobs.map(({ about }) => about),
      known,
      this.#findPages(first, first.bytesMax),
    )
    const sent = planned && (await this.#exchange.sendTogether(planned, signal))
    if (sent && !planned.isRead) this.#sizes.note(first, sent.pages * pageBytes)
    const isQuick = sent !== undefined && this.#isQuick(sinceMs)
    for (const [index, job] of jobs.entries()) {
      noteQuick(known[index], isQuick)
      const json = sent?.results[index]
      if (json) job.resolve({ kind: "done", json })
      else if (this.#isStopped) job.resolve(endingOutcome)
      else this.#queue.putBack(job)
    }
  }

  /** Plans, sends and reads, and starts again when the tables or the size have changed. */
  async #perform(request: Request, signal: AbortSignal): Promise<SqlOutcome> {
    const { bytesMax, isSingle, namespace } = request
    const busyUntilMs = performance.now() + this.#options.msMax / 2
    let schema: Uint8Array | undefined
    for (let attempt = 0; attempt < this.#limits.attemptsMax; ) {
      const pagesMax = this.#findPages(request, bytesMax)
      const known = schema === undefined ? this.#known.find(request) : undefined
      const [plan, batch] =
        (known && planKnown(known, request, pagesMax)) ??
        (await this.#compile(request, pagesMax, schema))
      schema = undefined
      let reply: LibsqlWorkerReply = plan
      let results: Buffer = noBytes
      if (plan.kind === "planned") {
        const call: ReadCall = {
          kind: "read",
          kinds: plan.kinds,
          isSingle,
          bytesMax,
          ...(plan.isRead ? {} : { pagesMax: pagesMax ?? 0 }),
        }
        const sinceMs = performance.now()
        ;[reply, results] = await this.#exchange.send(request, plan, batch, call, signal)
        noteQuick(known, this.#isQuick(sinceMs))
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
          return (await this.#findDone(request, signal)) ?? reply.outcome
        case "schema_needed": {
          // A worker says so about any statement that it cannot compile.
          if (plan.kind === "planned") this.#known.forget(namespace)
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

  /**
   * The outcome of an idempotent request that was done before. Asked when the request fails: its
   * statements may do so because they were executed, or because their record exists. Throws if the
   * server cannot be asked, so that the failure is not taken for that of the request.
   */
  async #findDone(
    { namespace, idempotent }: Request,
    signal: AbortSignal,
  ): Promise<SqlOutcome | undefined> {
    if (!idempotent) return undefined
    const ask = async ({ sql, args }: OwnStatement) => {
      const statement = { sql, args: args.map(toValue) }
      const [rows] = (await this.#server.execute(namespace, [statement], signal)) ?? []
      return (rows ?? []).map((row) => row.map((value) => ("value" in value ? value.value : null)))
    }
    if (toDoneTableState(await ask({ sql: describeDoneTable, args: [] })) !== "ours")
      return undefined
    const [row] = await ask(findDone(idempotent))
    if (!row) return undefined
    const [result] = row
    return typeof result === "string"
      ? { kind: "done", json: Buffer.from(result) }
      : { kind: "done_before" }
  }

  #isQuick(sinceMs: number): boolean {
    return performance.now() - sinceMs < this.#limits.quickMsMax
  }

  /** Undefined where it is not known, or the limit of the namespace is another one. */
  #findPages(home: DatabaseHome, bytesMax: number): number | undefined {
    if (this.#limited.get(toNamespace(home)) !== bytesMax) return undefined
    const room = this.#sizes.findRoom(home, bytesMax)
    return room === undefined ? undefined : Math.max(2, Math.floor(room / pageBytes))
  }

  /** Has a worker compile the statements, which knows the tables or is given them. */
  async #compile(
    request: Request,
    pagesMax: number | undefined,
    schema: Uint8Array | undefined,
  ): Promise<readonly [LibsqlWorkerReply, string]> {
    const room = pagesMax === undefined ? "" : `"pagesMax":${pagesMax},`
    const head = `{"kind":"plan",${room}"request":${request.json}}`
    const [plan, batch] = await this.#workers.call(request.ownerId, head, schema)
    if (plan.kind === "planned") this.#known.note(request, plan)
    return [plan, batch.toString()]
  }

  /** The tables of a database, which is created if it does not exist. */
  async #readSchema(
    home: DatabaseHome,
    bytesMax: number,
    signal: AbortSignal,
  ): Promise<Uint8Array | SqlOutcome> {
    const namespace = toNamespace(home)
    const options = { signal, bytesMax: this.#limits.replyBytesMax }
    const { reply, stream } = await this.#exchange.retry(true, signal, () =>
      this.#streams.send(namespace, schemaRequests, options),
    )
    this.#streams.release(stream, true)
    if (reply.kind === "done") return reply.bytes
    if (reply.kind !== "no_namespace")
      return { kind: "unavailable", message: "its tables cannot be read" }
    if (home.valId !== undefined) {
      const { databasesMax } = this.#limits
      const all = await this.#registry.listOf(home.ownerId)
      if (all.filter(({ valId }) => valId !== undefined).length >= databasesMax)
        return { kind: "full", message: `your vals have ${databasesMax} databases already` }
    }
    const { homes } = this.#options
    if (!(await homes.exists(home))) return { kind: "gone" }
    await this.#registry.add(home)
    await this.#server.createNamespace(namespace, bytesMax + doneBytesMax)
    await this.#server.execute(namespace, [{ sql: chooseVersion }], signal)
    // If the home is deleted after this, its deletion finds the database.
    if (!(await homes.exists(home))) {
      await this.#remove(home)
      return { kind: "gone" }
    }
    this.#limited.set(namespace, bytesMax)
    return this.#readSchema(home, bytesMax, signal)
  }

  /** The server's own limit, beside the check in each batch, which is before what we record. */
  async #limitNamespace(home: DatabaseHome, bytesMax: number): Promise<void> {
    const namespace = toNamespace(home)
    if (this.#limited.get(namespace) === bytesMax) return
    await this.#server.limitNamespace(namespace, bytesMax + doneBytesMax)
    this.#streams.forget(namespace)
    this.#limited.set(namespace, bytesMax)
  }
}

/** The pages of a libSQL server have this size. */
const pageBytes = 4096

const noBytes = Buffer.alloc(0)

/** Why the time of a request has ended. */
const late = new Error("it is late")

/**
 * Gives a new database a version of its tables that no other one has: a node that knows the statements
 * of a removed database of the same name must not send them to this one. The version is in bytes 40 to
 * 43 of the first page, and the server's parser refuses to set it in another way.
 */
const chooseVersion = `update sqlite_dbpage set data = cast(substr(data, 1, 40) || x'20' ||
  randomblob(3) || substr(data, 45) as blob) where pgno = 1`

/** The tables at one moment, with their version. */
const schemaRequests = [
  "begin",
  "pragma schema_version",
  "select type, name, sql from sqlite_schema where sql is not null",
  "rollback",
]
  .map((sql) => toOwnJson({ type: "execute", stmt: { sql } }))
  .join(",")

/** An error of the server is expected, and not ours. */
async function translate<T>(verb: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof LibsqlUnavailable)) throw error
    throw new Refused("database_unavailable", `Cannot ${verb} the database: ${error.message}`, {
      cause: error,
    })
  }
}
