import type { logLine, runError, runRequest, runSource, runStatus } from "@hamlet/contract"
import type { z } from "zod"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { RunEgress } from "../egress.ts"
import type { Page, PageRequest, Period } from "../paging.ts"
import type { ValMention } from "../vals/comments.ts"
import { canSee, getVal, type ValStore } from "../vals/vals.ts"

/** What started a run. */
export type RunSource = z.infer<typeof runSource>

/** How a run stands. */
export type RunStatus = z.infer<typeof runStatus>

/** Why a run failed. */
export type RunError = z.infer<typeof runError>

/** One line that a val logged. */
export type LogLine = z.infer<typeof logLine>

/** The request that started a run of an http val. */
export type RunRequest = z.infer<typeof runRequest>

/**
 * What stands in the place of a val's version in a run of code that is no val: versions are
 * numbered from 1.
 */
export const unsavedVersion = 0
/** And in the place of its name. */
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
  readonly val: ValMention
}

/** A run with everything that is kept of it. */
export interface RunDetail extends Run {
  readonly args: unknown
  readonly returnValue: unknown
  readonly logs: readonly LogLine[]
  readonly logsTruncated: boolean
  readonly request: RunRequest | null
  readonly egress: RunEgress | null
}

/** What a replay needs of a request beyond its method and address. */
export interface RunInput {
  /** Without credentials. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The body in base64. */
  readonly body: string
}

/** A run as it is written down; `accountId` is the user on whose account it is. */
export interface RunRecord {
  readonly id: string
  readonly valId: string
  readonly version: number
  readonly accountId: string
  readonly ownerId: string
  readonly parentId: string | null
  /** The node it is on, while it lasts. */
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
  /** Null when it has sent nothing out. */
  readonly egress?: RunEgress | null
  readonly logsTruncated: boolean
}

/** Which runs a list shows. */
export interface RunFilter extends Period {
  /** True: only failed ones. False: only succeeded ones. */
  readonly error: boolean | undefined
  readonly sources: readonly RunSource[] | undefined
}

/** Where runs are kept. */
export interface RunStore {
  /**
   * Undefined unless the viewer owns the val, or the run is on their account and they may still see
   * the val.
   */
  find(viewerId: string, id: string): Promise<RunDetail | undefined>
  /** Runs on the account, without those of vals that the account's user may no longer see. */
  listOfAccount(accountId: string, filter: RunFilter, page: PageRequest): Promise<Page<Run>>
  /** All runs of the val, or only those on one account. */
  listOfVal(
    valId: string,
    accountId: string | undefined,
    filter: RunFilter,
    page: PageRequest,
  ): Promise<Page<Run>>
  /** The runs of the val on its owner's account. */
  listOfOwner(valId: string, filter: RunFilter, page: PageRequest): Promise<Page<Run>>
  /** What was kept of the request that started the run. */
  findInput(id: string): Promise<RunInput | undefined>
  /**
   * Writes down runs, new ones and new states of known ones, all or none. One that has ended is
   * never open again.
   */
  record(runs: readonly RunRecord[]): Promise<void>
  /**
   * Asks the node that a run is on to end it, or ends it where there is no such node. False when it
   * had ended before.
   */
  requestCancel(id: string, error: RunError, at: number): Promise<boolean>
  /** Runs on the node that somebody wants to end. */
  listCancelRequests(nodeId: string): Promise<readonly string[]>
  /** Ends some of the runs that are on nodes which are no more; false when there are none. */
  crashLost(error: RunError, at: number, runsMax: number): Promise<boolean>
  /** Deletes some of the runs that deleted vals have left behind; false when there are none. */
  purge(runsMax: number): Promise<boolean>
  /** Deletes some of the runs that were made before then; false when there are no more. */
  purgeOlder(before: number, runsMax: number): Promise<boolean>
  /** Deletes some of the val's runs beyond its latest ones; false when there are no more. */
  purgeBeyond(valId: string, keptMax: number, runsMax: number): Promise<boolean>
  /**
   * How large some of the runs on an account are, the latest first, from the one behind `after` on.
   */
  listSizes(
    accountId: string,
    after: RunPlace | undefined,
    runsMax: number,
  ): Promise<readonly RunSize[]>
  /**
   * Deletes some of the runs on the account, that one and those before it; false when there are no
   * more.
   */
  purgeFrom(accountId: string, from: RunPlace, runsMax: number): Promise<boolean>
}

/** Where a run stands among those on its account. */
export interface RunPlace {
  readonly id: string
  readonly startedAt: number
}

/** How much a run takes on disk. */
export interface RunSize extends RunPlace {
  readonly bytes: number
}

/** What the rules of runs need. */
export interface RunDeps {
  readonly vals: ValStore
  readonly runs: RunStore
}

/** The val's runs: all of them for its owner, their own for anybody else. */
export async function listValRuns(
  deps: RunDeps,
  caller: Caller,
  valId: string,
  filter: RunFilter,
  page: PageRequest,
): Promise<Page<Run>> {
  const val = await getVal(deps, caller, valId)
  return deps.runs.listOfVal(
    valId,
    val.ownerId === caller.userId ? undefined : caller.userId,
    filter,
    page,
  )
}

/** The runs on the caller's account; of one val, as long as they may see it, where one is named. */
export async function listMyRuns(
  deps: RunDeps,
  { userId }: Caller,
  valId: string | undefined,
  filter: RunFilter,
  page: PageRequest,
): Promise<Page<Run>> {
  if (valId === undefined) return deps.runs.listOfAccount(userId, filter, page)
  const val = await deps.vals.findById(valId)
  if (!val || !canSee(val, { userId })) return { items: [], hasMore: false }
  return val.ownerId === userId
    ? deps.runs.listOfOwner(valId, filter, page)
    : deps.runs.listOfVal(valId, userId, filter, page)
}

/** A run, for the owner of its val and for whoever started it on their own account. */
export async function getRun(deps: RunDeps, caller: Caller, id: string): Promise<RunDetail> {
  const run = await deps.runs.find(caller.userId, id)
  if (!run) throw runNotFound(id)
  return run
}

/** The error for a run that is not there, or not for this caller. */
export function runNotFound(id: string): AppError {
  return new AppError("run_not_found", `Cannot find run "${id}"`)
}
