import type { Caller } from "../../access/caller.ts"
import { canSee } from "../../access/rights.ts"
import type { ValMention } from "../../comments/comments.ts"
import type { ValStore } from "../../vals/vals.ts"
import type { RecordedRun } from "../live-run.ts"
import type { LiveEvent, LiveRuns } from "../live-runs.ts"
import { numberLines } from "../run-log.ts"
import {
  type AccountLog,
  evalName,
  isUnsaved,
  type Run,
  type RunDetail,
  type RunStore,
} from "../runs.ts"

/** An event of the runs of an account. */
export type AccountEvent =
  /** The first one: from now on all events are sent. */
  | { readonly kind: "open" }
  | ({ readonly kind: "log" } & AccountLog)
  | { readonly kind: "end"; readonly run: Run }
  /** So many events are missing: there were more than could be sent. */
  | { readonly kind: "skipped"; readonly events: number }

/** Where the runs of an account are found: those of this node, and the records of all. */
export interface AccountRuns {
  readonly liveRuns: LiveRuns
  readonly runs: RunStore
  readonly vals: Pick<ValStore, "findById">
}

const limits = {
  /** Events that wait for a client; further ones are counted only. */
  waitingMax: 1_000,
  /** The characters of their texts, about. */
  waitingCharsMax: 1_048_576,
  /** Runs that one poll reads, and that are followed on other nodes. */
  runsMax: 100,
  /** Runs that are remembered as known. */
  knownMax: 10_000,
  /** Runs are written late: each poll starts this much earlier than the one before. */
  overlapMs: 5_000,
}

/** The times of following an account. */
export const accountTimes = {
  /** How often runs of other nodes are read. */
  pollMs: 1_000,
  /** How long one client may follow an account. */
  accountMsMax: 600_000,
}

/**
 * Yields the events of all runs on the caller's account: those of this node as they happen, those of
 * other nodes as they are written. It ends after a while: the client follows again, and a token
 * that was revoked meanwhile is refused then.
 */
export async function* followAccount(
  account: AccountRuns,
  caller: Caller,
  signal: AbortSignal,
  { pollMs, accountMsMax }: Readonly<typeof accountTimes>,
): AsyncGenerator<readonly AccountEvent[]> {
  const feed = new AccountFeed(account, caller, pollMs)
  const endMs = performance.now() + accountMsMax
  try {
    await feed.findEarlier()
    yield [{ kind: "open" }]
    while (!signal.aborted && performance.now() < endMs) {
      const events = await feed.next(signal)
      if (events.length > 0) yield events
    }
  } finally {
    feed.stop()
  }
}

/** An event without its val. It does not refer to its run, whose logs and values may be large. */
interface LocalEvent {
  readonly of: Pick<RecordedRun, "valId" | "version">
  readonly event:
    | ({ readonly kind: "log" } & Omit<AccountLog, "val">)
    | { readonly kind: "end"; readonly run: Omit<Run, "val"> }
}

/** Collects the events for one client. */
class AccountFeed {
  readonly #account: AccountRuns
  readonly #caller: Caller
  readonly #pollMs: number
  readonly #startedMs = Date.now()
  readonly #unwatch: () => void
  /** The runs of this node, and those of others that have ended. */
  readonly #known = new Set<string>()
  /** Runs of other nodes that go on, with the number of the next line. */
  readonly #remote = new Map<string, number>()
  #waiting: LocalEvent[] = []
  #waitingChars = 0
  #skipped = 0
  #polledMs = performance.now()
  #wake = () => {}

  constructor(account: AccountRuns, caller: Caller, pollMs: number) {
    this.#account = account
    this.#caller = caller
    this.#pollMs = pollMs
    this.#unwatch = account.liveRuns.watch(caller.ownerId, (run, event) => this.#note(run, event))
  }

  /** Finds the runs that go on already on other nodes. Only their new lines are sent. */
  async findEarlier(): Promise<void> {
    const { runs, liveRuns } = this.#account
    const statuses = ["running"] as const
    const page = { limit: limits.runsMax, offset: 0 }
    const { items } = await runs.listOfAccount(this.#caller, { statuses }, page)
    for (const { id } of items) {
      const run = liveRuns.find(id) ? undefined : await runs.find(this.#caller, id)
      if (run) this.#remote.set(id, countLines(run))
    }
  }

  /** The next events; none if nothing has happened for a while. */
  async next(signal: AbortSignal): Promise<readonly AccountEvent[]> {
    if (this.#waiting.length === 0) await this.#wait(signal)
    const local = this.#waiting
    const skipped = this.#skipped
    this.#waiting = []
    this.#waitingChars = 0
    this.#skipped = 0
    const events: AccountEvent[] = []
    for (const it of local) events.push(...(await this.#toEvents(it)))
    if (skipped > 0) events.push({ kind: "skipped", events: skipped })
    if (performance.now() - this.#polledMs < this.#pollMs || signal.aborted) return events
    this.#polledMs = performance.now()
    return [...events, ...(await this.#poll())]
  }

  stop(): void {
    this.#unwatch()
  }

  #note(run: RecordedRun, event: LiveEvent): void {
    this.#remember(run.id)
    const chars = countChars(run, event)
    const { waitingMax, waitingCharsMax } = limits
    if (this.#waiting.length >= waitingMax || this.#waitingChars + chars > waitingCharsMax)
      this.#skipped += 1
    else {
      this.#waiting.push(toLocalEvent(run, event))
      this.#waitingChars += chars
    }
    this.#wake()
  }

  #remember(id: string): void {
    this.#known.add(id)
    if (this.#known.size <= limits.knownMax) return
    const [oldest = ""] = this.#known
    this.#known.delete(oldest)
  }

  /** Waits for an event, or until the next poll is due. */
  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener("abort", end)
        resolve()
      }
      const timer = setTimeout(end, this.#pollMs)
      this.#wake = end
      signal.addEventListener("abort", end)
      if (signal.aborted || this.#waiting.length > 0) end()
    })
  }

  async #toEvents({ of, event }: LocalEvent): Promise<readonly AccountEvent[]> {
    const val = await this.#findVal(of)
    if (!val) return []
    return [event.kind === "log" ? { ...event, val } : { kind: "end", run: { ...event.run, val } }]
  }

  /** The val of a run, if the caller may still see it. */
  async #findVal({ valId, version }: LocalEvent["of"]): Promise<ValMention | undefined> {
    const { ownerId, ownerName } = this.#caller
    if (isUnsaved({ valId, ownerId }))
      return { id: valId, name: evalName, version, privacy: "private", ownerId, ownerName }
    const val = await this.#account.vals.findById(valId)
    if (!val || !canSee(val, this.#caller)) return undefined
    const { id, name, privacy } = val
    return { id, name, version, privacy, ownerId: val.ownerId, ownerName: val.ownerName }
  }

  /** Reads the runs of other nodes that are new, and those that go on. */
  async #poll(): Promise<readonly AccountEvent[]> {
    const { runs, liveRuns } = this.#account
    const since = Math.max(this.#startedMs, Date.now() - limits.overlapMs)
    const page = { limit: limits.runsMax, offset: 0 }
    const { items } = await runs.listOfAccount(this.#caller, { since }, page)
    for (const { id } of items.toReversed())
      if (!this.#known.has(id) && !this.#remote.has(id) && !liveRuns.find(id))
        if (this.#remote.size < limits.runsMax) this.#remote.set(id, 0)
    const events: AccountEvent[] = []
    for (const [id, next] of this.#remote) {
      const run = await runs.find(this.#caller, id)
      // The run waited in the queue, and this node runs it now.
      if (this.#known.has(id)) {
        this.#remote.delete(id)
        continue
      }
      events.push(...(run ? this.#toRemoteEvents(run, next) : []))
      if (run && run.endedAt === null) continue
      this.#remote.delete(id)
      this.#remember(id)
    }
    return events
  }

  #toRemoteEvents(run: RunDetail, next: number): readonly AccountEvent[] {
    const { id, val, file, branch } = run
    const lines = numberLines(run.logs, run.logGap, next).map(
      ({ line }): AccountEvent => ({ kind: "log", runId: id, val, file, branch, line }),
    )
    this.#remote.set(id, countLines(run))
    return run.endedAt === null ? lines : [...lines, { kind: "end", run }]
  }
}

function countLines({ logs, logGap }: Pick<RunDetail, "logs" | "logGap">): number {
  return logs.length + (logGap?.lines ?? 0)
}

function toLocalEvent(run: RecordedRun, event: LiveEvent): LocalEvent {
  const { id, valId, version } = run
  const of = { valId, version }
  return event.kind === "log"
    ? { of, event: { kind: "log", runId: id, ...toPlace(run), line: event.line } }
    : { of, event: { kind: "end", run: toRun(run) } }
}

function toRun(run: RecordedRun): Omit<Run, "val"> {
  const { id, parentId, startedAt, endedAt, error, source, status, request, lastLine } = run
  const attempt = run.claim?.attempt ?? 1
  return {
    id,
    parentId,
    startedAt,
    endedAt,
    error,
    source,
    status,
    attempt,
    ...toPlace(run),
    request,
    mail: null,
    lastLine,
  }
}

/** The file that the run has started, and its branch. */
function toPlace({ file }: RecordedRun): Pick<Run, "file" | "branch"> {
  return {
    file: file && { id: file.id, path: file.path },
    branch: file && { id: file.branchId, name: file.branchName },
  }
}

function countChars({ error }: RecordedRun, event: LiveEvent): number {
  if (event.kind === "log") return event.line.message.length
  return error === null ? 0 : error.message.length + (error.stack?.length ?? 0)
}
