import { FairQueue, OpenCounts, type Waiter } from "@hamlet/kit"
import type { LibsqlLimits } from "../database-limits.ts"
import type { SqlOutcome } from "../owner-databases.ts"
import { findTogetherKind, type KnownStatements, type TogetherKind } from "./known-statements.ts"
import type { Request } from "./libsql-request.ts"

/** A request that waits or runs, and its outcome. */
export type Job = Waiter<Request, SqlOutcome>

/** The requests that wait for the libSQL server, by owner, and which of them may start. */
export class LibsqlQueue {
  readonly #known: KnownStatements
  readonly #limits: LibsqlLimits
  readonly #queue: FairQueue<Request, SqlOutcome>
  /** Requests under way, by owner. Those that were sent together count as one. */
  readonly #running = new OpenCounts()
  /** The databases whose changes are under way: those that come meanwhile are sent together. */
  readonly #changing = new Set<string>()

  constructor(known: KnownStatements, limits: LibsqlLimits) {
    this.#known = known
    this.#limits = limits
    this.#queue = new FairQueue(limits)
  }

  /** Undefined if too many wait. */
  add(request: Request): Job | undefined {
    return this.#queue.add(request.ownerId, request, { bytes: request.json.length })
  }

  /** Lets one wait again that has failed with others, and has to be sent by itself now. */
  putBack(job: Job): void {
    job.about.isAlone = true
    this.#queue.putBack(job)
  }

  /** Removes all and returns them. */
  clear(): readonly Job[] {
    return this.#queue.clear()
  }

  /** Has the next request performed, with others that can be sent together with it, if one may start. */
  start(perform: (jobs: readonly Job[]) => Promise<void>): Promise<void> | undefined {
    const job = this.#queue.next(
      (owner) => this.#running.of(owner) < this.#findShare(),
      (about) => !(this.#changing.has(about.namespace) && this.#kindOf(about) === "changes"),
    )
    return job && this.#run(job, perform)
  }

  /**
   * How many requests of one owner may run now: the fewer places are free, the fewer, so that owners
   * with endless statements leave places to others. The last ones are for those that have none.
   */
  #findShare(): number {
    const { atOnceMax, atOncePerOwnerMax } = this.#limits
    const free = atOnceMax - this.#running.total
    return Math.max(1, Math.min(atOncePerOwnerMax, Math.ceil(free / 2)))
  }

  async #run(job: Job, perform: (jobs: readonly Job[]) => Promise<void>): Promise<void> {
    const { key, about } = job
    const kind = this.#kindOf(about)
    if (kind === "changes") this.#changing.add(about.namespace)
    const endCount = this.#running.open(key)
    try {
      await perform(kind ? [job, ...this.#takeOthers(job, kind)] : [job])
    } finally {
      if (kind === "changes") this.#changing.delete(about.namespace)
      endCount()
    }
  }

  /**
   * Requests of the same kind to the same database: one request to the server takes longer than ten
   * statements, and a commit longer than ten changes. Reads see what was committed before, as each of
   * them would; changes are made one after the other, and committed together.
   */
  #takeOthers({ key, about: first }: Job, kind: TogetherKind): readonly Job[] {
    const others: Job[] = []
    const { togetherMax, togetherStatementsMax } = this.#limits
    let left = togetherStatementsMax - countStatements(first)
    while (this.#queue.size > 0 && others.length < togetherMax - 1) {
      const job = this.#queue.next(
        (owner) => owner === key,
        (about) =>
          about.namespace === first.namespace &&
          about.bytesMax === first.bytesMax &&
          countStatements(about) <= left &&
          this.#kindOf(about) === kind,
      )
      if (!job) break
      left -= countStatements(job.about)
      others.push(job)
    }
    return others
  }

  #kindOf(request: Request): TogetherKind | undefined {
    const known = request.isAlone ? undefined : this.#known.find(request)
    const kind = known && findTogetherKind(known)
    // Each idempotent request has a transaction of its own, in which it is recorded.
    return kind === "changes" && request.idempotent ? undefined : kind
  }
}

function countStatements({ statements }: Request): number {
  return statements?.length ?? 0
}
