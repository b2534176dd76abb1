import type {
  logGap,
  logLine,
  runError,
  runMessage,
  runRequest,
  runSource,
  runStatus,
} from "@hamlet/contract"
import type { Page, PageRequest, Period } from "@hamlet/database/page"
import type { z } from "zod"
import type { Caller } from "../access/caller.ts"
import { type AccountView, canSee, isOfAccount, rightsOn } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Fenced } from "../claims.ts"
import type { Clock } from "../clock.ts"
import type { ValMention } from "../comments/comments.ts"
import type { RunEgress } from "../egress.ts"
import type { RunEmail } from "../mail/inbound/mail.ts"
import type { CodeFile, Vals } from "../vals/vals.ts"

/** What started a run. */
export type RunSource = z.infer<typeof runSource>

/** The state of a run. */
export type RunStatus = z.infer<typeof runStatus>

/** Why a run failed. */
export type RunError = z.infer<typeof runError>

/** One line that a val logged. */
export type LogLine = z.infer<typeof logLine>

/** Lines that are left out in the middle of a log. */
export type LogGap = z.infer<typeof logGap>

/** A request or a response as a run keeps it: without credentials. */
export type RunMessage = z.infer<typeof runMessage>

/** The request that started a run of an http val. */
export type RunRequest = z.infer<typeof runRequest>

/** The version that is recorded for a run of unsaved code. */
export const unsavedVersion = 0

/** Whether a run is of code that is not saved: it is recorded under the id of its owner. */
export function isUnsaved({
  valId,
  ownerId,
}: {
  readonly valId: string
  readonly ownerId: string
}): boolean {
  return valId === ownerId
}
/** The val name that is recorded for a run of unsaved code. */
export const evalName = "eval"

/** One execution of a val, as lists show it. `val.version` is the version that ran. */
export interface Run {
  readonly id: string
  readonly parentId: string | null
  readonly startedAt: number
  readonly endedAt: number | null
  readonly error: RunError | null
  readonly source: RunSource
  readonly status: RunStatus
  /** 1 unless it has failed before and was attempted again. */
  readonly attempt: number
  readonly val: ValMention
  /** The file that it started, where it is now; null if it is gone. */
  readonly file: { readonly id: string; readonly path: string } | null
  /** The branch of the file; null if it is gone. */
  readonly branch: { readonly id: string; readonly name: string } | null
  readonly request: RunRequest | null
  /** The sender and the subject of the mail that started it. */
  readonly mail: {
    readonly from: string
    readonly subject: string
    readonly isTest: boolean
  } | null
  /** The start of the last line that it has logged. */
  readonly lastLine: string | null
}

/** A run with everything that is recorded. */
export interface RunDetail extends Run {
  readonly args: unknown
  readonly returnValue: unknown
  readonly logs: readonly LogLine[]
  readonly logsTruncated: boolean
  readonly logGap: LogGap | null
  /** The response of an http val; null if it is not kept. */
  readonly response: RunMessage | null
  /** The mail that started it. */
  readonly email: RunEmail | null
  readonly egress: RunEgress | null
}

/** What a replay needs of a request besides method and URL. */
export interface RequestInput {
  /** Without credentials. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The body in base64. */
  readonly body: string
}

/** Arguments that are too large to be recorded. They are stored until the run has ended. */
export interface LargeArgs {
  readonly kind: "args"
  readonly json: string
}

/** A due time of a schedule, in milliseconds; `lastRunAt` is null for the first run. */
export interface IntervalInput {
  readonly kind: "interval"
  readonly scheduledAt: number
  readonly lastRunAt: number | null
}

/** The mail that a val of type `email` is called with. */
export interface MailInput {
  readonly kind: "email"
  /**
   * The id of the run that the mail has started; a replay has that of its original. It is not the
   * id in the header of the mail: rows of `runs` have it under this name.
   */
  readonly messageId: string
}

/** What a run is started with, where its recorded arguments are not enough. */
export type RunInput = RequestInput | LargeArgs | IntervalInput | MailInput

/** Whether the run is started by a request. */
export function isRequestInput(input: RunInput): input is RequestInput {
  return "headers" in input
}

/** A run as it is stored. `accountId` is the user on whose account it runs. */
export interface RunRecord {
  readonly id: string
  readonly valId: string
  /** The file that it starts; absent for code that is not saved. */
  readonly file?: CodeFile | null
  readonly version: number
  readonly accountId: string
  readonly ownerId: string
  readonly parentId: string | null
  /** The node that runs it; null when the run has ended. */
  readonly nodeId?: string | null
  readonly source: RunSource
  readonly status: RunStatus
  readonly startedAt: number
  readonly endedAt: number | null
  readonly error: RunError | null
  readonly request: RunRequest | null
  readonly input?: RunInput | null
  readonly args: unknown
  readonly returnValue: unknown
  readonly logs: readonly LogLine[]
  /** Null when it has sent no outgoing request. */
  readonly egress?: RunEgress | null
  readonly logsTruncated: boolean
  readonly logGap?: LogGap | null
  readonly lastLine?: string | null
  /** What is kept of the response. It is written together with the end of the run. */
  readonly response?: RunMessage | null
  /** The number of vals that called each other before this run. It is stored in the queue only. */
  readonly depth?: number
  /** Set for a run of the queue. */
  readonly claim?: RecordedClaim | undefined
  /** Whether the end of the run was recorded before. */
  readonly isEndWritten?: boolean
}

/** What else is recorded of a run of the queue, by the node that has claimed it. */
export interface RecordedClaim {
  /** The number of the claim. Nothing is recorded if the run was claimed by another node since. */
  readonly fence: number
  /** Set when the attempt has failed and is to be repeated: the delay, in milliseconds. */
  readonly retryMs: number | undefined
}

/** Which runs a list shows. */
export interface RunFilter extends Period {
  /** True: only failed runs. False: only succeeded runs. */
  readonly error?: boolean | undefined
  readonly sources?: readonly RunSource[] | undefined
  readonly statuses?: readonly RunStatus[] | undefined
  /** Occurs in the address of the request, in the error or in the last log line. */
  readonly text?: string | undefined
  readonly fileId?: string | undefined
  readonly branchId?: string | undefined
}

/** Stores runs. */
export interface RunStore {
  /**
   * Undefined unless the viewer owns the val, or the run is on the viewer's account and the viewer
   * may still see the val.
   */
  find(view: AccountView, id: string): Promise<RunDetail | undefined>
  /** The runs on the account, without those of vals that its user may no longer see. */
  listOfAccount(view: AccountView, filter: RunFilter, page: PageRequest): Promise<Page<Run>>
  /** All runs of the val, or only those on `accountId`. */
  listOfVal(
    valId: string,
    accountId: string | undefined,
    filter: RunFilter,
    page: PageRequest,
  ): Promise<Page<Run>>
  /** The runs of the val on its owner's account. */
  listOfOwner(valId: string, filter: RunFilter, page: PageRequest): Promise<Page<Run>>
  /** By run; those without logs are left out. */
  findLogs(ids: readonly string[]): Promise<ReadonlyMap<string, readonly LogLine[]>>
  /** What the run was started with, for a replay. */
  findInput(id: string): Promise<RunInput | undefined>
  /** When a file started last, among the newest runs of its val; null if it did not. */
  findLastStart(valId: string, fileId: string): Promise<number | null>
  /**
   * Inserts or updates the runs. A run that has ended stays ended. Returns the ids of the runs that
   * were taken from this node: nothing was recorded for them.
   */
  record(runs: readonly RunRecord[]): Promise<readonly string[]>
  /**
   * Ends runs of this node that are over and whose records were lost, as if the node had died: those
   * with retries left wait again, the others have crashed. Returns why some could not be ended, by id.
   */
  giveUp(
    nodeId: string,
    runs: readonly UnrecordedRun[],
    end: { readonly error: RunError; readonly at: number },
  ): Promise<ReadonlyMap<string, unknown>>
  /**
   * Records that the run is to be cancelled: no node starts it again, whatever becomes of the node
   * that runs it. Ends the run if no node has it. Returns false when the run had ended before.
   */
  requestCancel(id: string, at: number): Promise<boolean>
  /**
   * Calls back when any node has recorded such a request; a call may get lost. Returns a function that
   * ends it.
   */
  onCancelRequest(listener: () => void): () => void
  /** The ids of the runs, on any node, that are to be cancelled. */
  listCancelRequests(): Promise<readonly string[]>
  /** Deletes some runs of deleted vals. Returns false when there are none. */
  purge(runsMax: number): Promise<boolean>
  /** Where runs are in partitions by time, adds the next ones. */
  addPartitions(keptMs: number): Promise<void>
  /** Drops the partitions whose runs are all older than `keptMs`. */
  dropPartitions(keptMs: number): Promise<void>
  /**
   * Deletes some runs that started before then and have ended, if no partition is dropped with them.
   * Returns false when there are none left.
   */
  purgeOlder(before: number, runsMax: number): Promise<boolean>
  /** Deletes some runs of the val, except the latest `keptMax`. Returns false when none are left. */
  purgeBeyond(valId: string, keptMax: number, runsMax: number): Promise<boolean>
  /** The sizes of the runs on an account, latest first, starting behind `after`. */
  listSizes(
    accountId: string,
    after: RunPosition | undefined,
    runsMax: number,
  ): Promise<readonly RunSize[]>
  /** Deletes some runs on the account: `from` and older ones. Returns false when none are left. */
  purgeFrom(accountId: string, from: RunPosition, runsMax: number): Promise<boolean>
}

/** The position of a run in the list of its account's runs. */
export interface RunPosition {
  readonly id: string
  readonly startedAt: number
}

/** The size of a run on disk. */
export interface RunSize extends RunPosition {
  readonly bytes: number
}

/** A log line with its run, its val and the file that was started. */
export interface AccountLog extends Pick<Run, "val" | "file" | "branch"> {
  readonly runId: string
  readonly line: LogLine
}

/** What a list of the latest log lines has; logs are read some runs at a time. */
const latest = { runsMax: 20, linesMax: 1_000, charsMax: 600_000, runsAtOnceMax: 8 }

/** A run in progress on this node. */
interface CancellableRun {
  readonly endedAt: number | null
  cancel(): void
  settled(): Promise<void>
}

/** The rules of runs. */
export type Runs = ReturnType<typeof createRuns>

/** Creates the rules of runs. */
export function createRuns(
  store: RunStore,
  vals: Vals,
  liveRuns: { find(id: string): CancellableRun | undefined },
  { now }: Clock,
) {
  /** Returns a run to the owner of its val and to the user on whose account it ran. */
  const get = async (caller: Caller, id: string): Promise<RunDetail> => {
    const run = await store.find(caller, id)
    if (!run) throw runNotFound(id)
    // What a val responds may contain what only its owner may see.
    return rightsOn(run.val, caller).inspect ? run : { ...run, response: null }
  }
  return {
    get,
    /** Lists the val's runs: all of them for its owner, the caller's own runs for others. */
    async listOfVal(caller: Caller, valId: string, filter: RunFilter, page: PageRequest) {
      const val = await vals.get(caller, valId)
      const accountId = rightsOn(val, caller).inspect ? undefined : caller.ownerId
      return store.listOfVal(valId, accountId, filter, page)
    },
    /** Lists the runs on the caller's account, of one val if `valId` is given. */
    async listMine(
      caller: Caller,
      valId: string | undefined,
      filter: RunFilter,
      page: PageRequest,
    ): Promise<Page<Run>> {
      const { ownerId } = caller
      if (valId === undefined) return store.listOfAccount(caller, filter, page)
      const val = await vals.findById(valId)
      if (!val || !canSee(val, caller)) return { items: [], hasMore: false }
      return isOfAccount(val, caller)
        ? store.listOfOwner(valId, filter, page)
        : store.listOfVal(valId, ownerId, filter, page)
    },
    /** The log lines of the latest runs on the caller's account, the oldest first. */
    async listLatestLogs(caller: Caller): Promise<readonly AccountLog[]> {
      const { runsMax, runsAtOnceMax, charsMax } = latest
      const { items } = await store.listOfAccount(caller, {}, { limit: runsMax, offset: 0 })
      // A run without a last line has logged nothing.
      const logged = items.filter(({ lastLine }) => lastLine !== null)
      const lines: AccountLog[] = []
      let chars = 0
      for (let from = 0; from < logged.length && chars < charsMax; from += runsAtOnceMax) {
        const chunk = logged.slice(from, from + runsAtOnceMax)
        const found = await store.findLogs(chunk.map(({ id }) => id))
        for (const { id: runId, val, file, branch } of chunk)
          for (const line of found.get(runId) ?? []) {
            lines.push({ runId, val, file, branch, line })
            chars += line.message.length
          }
      }
      return cutToNewest(lines.sort((one, other) => compareTimes(one.line.at, other.line.at)))
    },
    /**
     * Cancels a run that the caller may see. Returns false when it had already ended. It is on disk
     * before this resolves: if the server dies then, the run stays cancelled.
     */
    async cancel(caller: Caller, id: string, valId?: string): Promise<boolean> {
      if (valId !== undefined) await vals.get(caller, valId)
      const run = await get(caller, id)
      if (valId !== undefined && run.val.id !== valId) throw runNotFound(id)
      const live = liveRuns.find(id)
      const goesOnHere = live !== undefined && live.endedAt === null
      if (goesOnHere) live.cancel()
      // An attempt that has just ended may be repeated: its record says whether.
      else await live?.settled()
      const isRequested = await store.requestCancel(id, now())
      return goesOnHere || isRequested
    },
  }
}

/** The last lines, as many as a list has. */
function cutToNewest(lines: readonly AccountLog[]): readonly AccountLog[] {
  let chars = 0
  const tooMuch = lines.findLastIndex(({ line }) => {
    chars += line.message.length
    return chars > latest.charsMax
  })
  return lines.slice(Math.max(tooMuch + 1, lines.length - latest.linesMax))
}

function compareTimes(one: LogLine["at"], other: LogLine["at"]): number {
  return one < other ? -1 : one > other ? 1 : 0
}

/** The error for a run that does not exist, or that the caller may not see. */
function runNotFound(id: string): AppError {
  return new AppError("run_not_found", `Cannot find run "${id}"`)
}

/** A run that is over on this node, whose outcome cannot be recorded. */
export interface UnrecordedRun extends Fenced {
  /** Whether its code may have started. */
  readonly hasStarted: boolean
  /** The delay before the next attempt, if its caller asked for retries. */
  readonly delayMs: number
}

/** The errors of runs that ended with their server. They say nothing about the val. */
export const serverErrors = {
  died: { name: "ServerDied", message: "The server died while the val was running" },
  stopped: { name: "ServerStopped", message: "The server was stopped while the val was running" },
  unrecorded: { name: "NotRecorded", message: "The server could not record how the run ended" },
} as const satisfies Readonly<Record<string, RunError>>

const names: ReadonlySet<string> = new Set(Object.values(serverErrors).map(({ name }) => name))

/** Whether a run with that error ended with its server. For runs that have crashed only. */
export function isServerError(error: RunError | null): boolean {
  return error !== null && names.has(error.name)
}
