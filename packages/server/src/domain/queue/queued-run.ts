import type {
  LogGap,
  LogLine,
  RunError,
  RunInput,
  RunRequest,
  RunSource,
  RunStatus,
} from "../runs/runs.ts"

/** A run for the queue. */
export interface NewQueuedRun {
  readonly id: string
  readonly valId: string
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
  /** It starts no sooner, by the clock of the database. Absent: at once. */
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
}

/** A run that has ended, for what else is written in the same transaction. */
export interface EndedRun {
  readonly id: string
  readonly valId: string
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
