import type { Fenced } from "../claims.ts"
import type {
  LogGap,
  LogLine,
  RunError,
  RunInput,
  RunRequest,
  RunSource,
  RunStatus,
} from "../runs/runs.ts"
import type { CodeFile } from "../vals/vals.ts"

/** A run for the queue. */
export interface NewQueuedRun {
  readonly id: string
  readonly valId: string
  /** Absent: the entry file of `main`. */
  readonly file?: Pick<CodeFile, "id" | "branchId">
  /** `current` is the version that is current when the run starts. */
  readonly version: number | "current"
  /** The user on whose account it runs. */
  readonly accountId: string
  readonly source: RunSource
  /** The run that it replays. */
  readonly parentId?: string | null
  /** The arguments as the run records them. The val gets them, unless `input` has others. */
  readonly args: unknown
  readonly input?: RunInput | null
  readonly request?: Pick<RunRequest, "method" | "url"> | null
  /** When the run may start, by the clock of the database. Absent: at once. */
  readonly dueAt?: number | null
  /** How often it is attempted again when it fails. */
  readonly retries?: number
  /** The number of vals that called each other before this run. */
  readonly depth?: number
}

/**
 * A run of the queue that this node may start. `fence` is the number of this claim: the database
 * ignores what a node records under an older number.
 */
export interface ClaimedRun {
  readonly id: string
  readonly valId: string
  /** Null for the entry file of `main`. */
  readonly startedFile: Pick<CodeFile, "id" | "branchId"> | null
  readonly version: number
  /** Whether it runs the version that is current now, instead of `version`. */
  readonly followsCurrent: boolean
  readonly accountId: string
  readonly ownerId: string
  readonly parentId: string | null
  readonly source: RunSource
  /** When it was queued. */
  readonly queuedAt: number
  readonly args: unknown
  readonly input: RunInput | null
  readonly request: RunRequest | null
  /** What earlier attempts have logged. */
  readonly logs: readonly LogLine[]
  readonly logsTruncated: boolean
  readonly logGap: LogGap | null
  readonly fence: number
  /** 1 for the first attempt. */
  readonly attempt: number
  readonly retries: number
  readonly depth: number
  readonly isAccountSuspended: boolean
  /** The run was cancelled while it had started elsewhere, or was on its way back to the queue. */
  readonly isToBeCancelled: boolean
}

/** A run that has ended, for what else is written in the same transaction. */
export interface EndedRun {
  readonly id: string
  readonly valId: string
  /** The file that was started, and its branch. */
  readonly fileId: string
  readonly branchId: string
  readonly version: number
  readonly accountId: string
  readonly ownerId: string
  readonly source: RunSource
  readonly status: RunStatus
  readonly startedAt: number
  readonly endedAt: number
  readonly error: RunError | null
  /** The number of vals that called each other before this run. */
  readonly depth: number
}

/** Which runs a node claims. */
export interface ClaimRequest {
  readonly nodeId: string
  /** The claims that the node has, which stay. */
  readonly held: readonly HeldClaim[]
  readonly runsMax: number
  /** Accounts take turns in the order of their ids: the account behind this one is next. */
  readonly after: string | null
  /** How many runs of the account may be claimed now. */
  roomOf(accountId: string): number
}

/** What a node has claimed. */
export interface ClaimedBatch {
  readonly runs: readonly ClaimedRun[]
  /** The account behind which the next claim goes on; null when all accounts had their turn. */
  readonly next: string | null
}

/** A claim of a node to a run on an account. */
export interface HeldClaim extends Fenced {
  readonly accountId: string
}

/** How runs are taken from a node that is gone. */
export interface Takeover {
  /** The error of runs whose code had started and that have no retries left. */
  readonly error: RunError
  readonly at: number
  readonly runsMax: number
  /** Waits for runs that another node is taking: it may not succeed. Otherwise they are left to it. */
  readonly waits?: boolean
  /** The delay before a run is attempted again, in milliseconds. */
  delayOf(attempt: number): number
}

/** How runs of nodes that are gone went on. */
export interface TakenOver {
  /** Runs that had not started and are in the queue again. */
  readonly requeued: number
  /** Runs that had started, failed, and are in the queue for another attempt. */
  readonly retried: number
  readonly crashed: number
  /** Whether there may be more. */
  readonly hasMore: boolean
  /** Why some runs could not be taken. They do not stop the others, and are tried again. */
  readonly errors: readonly unknown[]
}

/** The runs that wait. */
export interface QueueDepth {
  /** Runs that could start. */
  readonly due: number
  /** Runs that wait for their time. */
  readonly later: number
  /** For how long the first of the runs that could start has been waiting. */
  readonly oldestMs: number
  /** The count has stopped at its limit: there are more. */
  readonly isPartial: boolean
}

/** Stores the queue: the runs that no caller waits for. */
export interface QueueStore {
  /**
   * Adds the run and returns its id: that of the run which an earlier attempt at the same idempotent
   * request has added, if there was one. Returns null when the val is gone.
   */
  enqueue(run: NewQueuedRun): Promise<string | null>
  /** The number of runs on the account that wait, counted up to `countMax`. */
  countWaiting(accountId: string, countMax: number): Promise<number>
  /** Claims some due runs for the node, unless the node has lost its lease. */
  claim(request: ClaimRequest): Promise<ClaimedBatch>
  /** Puts claimed runs that have not started into the queue again. */
  release(runs: readonly Fenced[], delayMs: number): Promise<void>
  /** Ends all claims of the node but these. Returns false when the node is gone. */
  saveClaims(nodeId: string, held: readonly HeldClaim[]): Promise<boolean>
  /** Deletes a claimed run whose val is gone. */
  drop(run: Fenced): Promise<void>
  /** Takes some runs of nodes that are gone. */
  takeOver(takeover: Takeover): Promise<TakenOver>
  depth(countMax: number): Promise<QueueDepth>
}
