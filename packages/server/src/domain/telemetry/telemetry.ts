import { isCredentialHeader } from "@hamlet/contract/credential-headers"
import type { HeaderList } from "@hamlet/http1"
import { createTimeSlice, type Mask } from "@hamlet/kit"
import type { Caller } from "../access/caller.ts"
import { type AccountView, canSee, rightsOn } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import { keepHeaders } from "../runs/contents/response-keeper.ts"
import type { LogLine, Run } from "../runs/runs.ts"
import { openMask, type SecretOpener } from "../secrets/open-secrets.ts"
import type { RunBatches, RunSample, Span } from "../stats/stats.ts"
import type { Vals } from "../vals/vals.ts"
import {
  findTimePage,
  nanosPerMs,
  type TimedItem,
  type TimePage,
  type TimePageRequest,
  toNanos,
  type WalkSpan,
} from "./time-pages.ts"

/** Whose runs are read, and of which vals. */
export interface RunScope {
  readonly view: AccountView
  /** Undefined for all. `isOwn`: the val belongs to the account. */
  readonly vals: readonly { readonly id: string; readonly isOwn: boolean }[] | undefined
}

/** The file that a run has started, and its branch. */
export type StartedFile = Pick<RunSample, "fileId" | "branchId">

/** A run with the file that it started, as it was then. */
export interface TracedRun extends StartedFile {
  readonly run: Run
  readonly path: string
  readonly type: string
}

/** The headers that are kept of a run; null where none are. */
export interface KeptHeaders {
  readonly request: HeaderList | null
  readonly response: HeaderList | null
}

/** Reads runs for traces. */
export interface TelemetryStore {
  /** The vals that the filter leaves; it has one. */
  listVals(filter: FileFilter): Promise<readonly string[]>
  /** A run that the user may not see, or that is on another account, has no owner. */
  walk(
    scope: RunScope,
    walk: { readonly span: Span; readonly direction: "asc" | "desc"; readonly runsMax: number },
  ): RunBatches
  /** The runs with these ids on the account. */
  findSamples(view: AccountView, ids: readonly string[]): Promise<readonly RunSample[]>
  findTraced(ids: readonly string[]): Promise<ReadonlyMap<string, TracedRun>>
  findHeaders(id: string): Promise<KeptHeaders>
  /** By run; those without logs are left out. */
  findLogs(ids: readonly string[]): Promise<ReadonlyMap<string, readonly LogLine[]>>
}

/** Whose runs are left. */
export interface FileFilter {
  readonly branchIds?: readonly string[] | undefined
  readonly fileId?: string | undefined
}

/** Which traces or log lines a page has. */
export interface TelemetryQuery extends TimePageRequest, FileFilter {}

/** A run as a trace. */
export interface Trace extends TracedRun {
  /** Without credentials. Others than the val's owner get none. */
  readonly requestHeaders: HeaderList
  readonly responseHeaders: HeaderList
}

/** A log line of a run. */
export interface TelemetryLog extends TimedItem, StartedFile {
  readonly runId: string
  readonly line: LogLine
}

const limits = {
  /** Runs that one page of traces looks at, and reads at a time. */
  tracesScannedMax: 10_000,
  tracesAtOnceMax: 250,
  /**
   * Runs that one page of log lines looks at, and reads at a time: a log has up to a hundred
   * kilobytes.
   */
  logsScannedMax: 400,
  logsAtOnceMax: 8,
  /** Items of a page, if many have the same time. */
  itemsMax: 1_000,
  headerBytesMax: 8_192,
  /**
   * A run is recorded a tenth of a second after its end. Traces in the order of their ends show it
   * after this time, because a client that polls would miss a late one.
   */
  recordedAfterMs: 300,
}

/** The rules of traces. */
export type Telemetry = ReturnType<typeof createTelemetry>

/** Creates the rules of traces. `runMsMax` is how long a run can take, waiting included. */
export function createTelemetry(
  store: TelemetryStore,
  vals: Vals,
  secrets: SecretOpener,
  { now }: Pick<Clock, "now">,
  runMsMax: number,
) {
  /** Undefined if no run can be in it. */
  const toScope = async (caller: Caller, query: TelemetryQuery): Promise<RunScope | undefined> => {
    if (query.branchIds === undefined && query.fileId === undefined)
      return { view: caller, vals: undefined }
    const ids = await store.listVals(query)
    const found = await Promise.all(ids.map((id) => vals.findById(id)))
    const seen = found.flatMap((val) =>
      val && canSee(val, caller) ? [{ id: val.id, isOwn: rightsOn(val, caller).inspect }] : [],
    )
    return seen.length === 0 ? undefined : { view: caller, vals: seen }
  }
  const walkOf =
    (scope: RunScope, runsMax: number): WalkSpan =>
    (since, until, direction) =>
      store.walk(scope, { span: { since, until }, direction, runsMax })
  return {
    /** The runs on the caller's account by the time of their start, or those that have ended by their end. */
    async listTraces(
      caller: Caller,
      query: TelemetryQuery & { readonly orderBy: "start_time" | "end_time" },
    ): Promise<TimePage<Trace>> {
      const scope = await toScope(caller, query)
      if (!scope) return nothing
      const isByEnd = query.orderBy === "end_time"
      const recorded = toNanos(now() - limits.recordedAfterMs + 1)
      const isLimited = isByEnd && (query.end === undefined || query.end > recorded)
      const { items, next } = await findTimePage(
        isLimited ? { ...query, end: recorded } : query,
        {
          spanMs: isByEnd ? runMsMax : 0,
          unit: nanosPerMs,
          runsMax: limits.tracesScannedMax,
          itemsMax: limits.itemsMax,
        },
        walkOf(scope, limits.tracesAtOnceMax),
        async (batch) =>
          batch.flatMap((run) => {
            const at = isByEnd ? run.endedAt : run.startedAt
            const isListed = at !== null && isShownRun(run, query)
            return isListed ? [{ at: toNanos(at), key: run.id }] : []
          }),
      )
      return {
        items: await readTraces(
          store,
          secrets,
          caller,
          items.map(({ key }) => key),
        ),
        next,
      }
    },
    /** The log lines of runs on the caller's account; with `runIds`, of these only. */
    async listLogs(
      caller: Caller,
      query: TelemetryQuery & { readonly runIds?: readonly string[] | undefined },
    ): Promise<TimePage<TelemetryLog>> {
      const scope = await toScope(caller, query)
      if (!scope) return nothing
      const toItems = (batch: readonly RunSample[]) => readLogs(store, query, batch)
      const { runIds } = query
      const rules = { unit: 1n, runsMax: limits.logsScannedMax, itemsMax: limits.itemsMax }
      if (runIds === undefined) {
        const walk = walkOf(scope, limits.logsAtOnceMax)
        return findTimePage(query, { ...rules, spanMs: runMsMax }, walk, toItems)
      }
      const samples = await store.findSamples(caller, runIds)
      return findTimePage(query, { ...rules, spanMs: 0 }, () => oneBatch(samples), toItems)
    },
  }
}

const nothing = { items: [], next: undefined }

async function readLogs(
  store: TelemetryStore,
  filter: FileFilter,
  batch: readonly RunSample[],
): Promise<readonly TelemetryLog[]> {
  const shown = batch.filter((run) => isShownRun(run, filter))
  const logs: TelemetryLog[] = []
  const pace = createTimeSlice()
  for (let from = 0; from < shown.length; from += limits.logsAtOnceMax) {
    const chunk = shown.slice(from, from + limits.logsAtOnceMax)
    const found = await store.findLogs(chunk.map(({ id }) => id))
    for (const run of chunk) logs.push(...toLogs(run, found.get(run.id) ?? []))
    await pace()
  }
  return logs
}

async function readTraces(
  store: TelemetryStore,
  secrets: SecretOpener,
  caller: Caller,
  ids: readonly string[],
): Promise<readonly Trace[]> {
  const found = await store.findTraced(ids)
  const masks = new Map<string, Promise<Mask | undefined>>()
  const pace = createTimeSlice()
  const traces: Trace[] = []
  for (const id of ids) {
    const traced = found.get(id)
    if (!traced) continue
    const { val, request } = traced.run
    if (request === null || !rightsOn(val, caller).change)
      traces.push({ ...traced, requestHeaders: [], responseHeaders: [] })
    else {
      const opening = masks.get(val.id) ?? openMask(secrets, val).catch(ignoreUnreadableSecrets)
      masks.set(val.id, opening)
      const mask = await opening
      const kept = mask ? await store.findHeaders(id) : noHeaders
      traces.push({ ...traced, ...toShownHeaders(kept, mask) })
    }
    await pace()
  }
  return traces
}

/**
 * Whether the filter leaves the run, and the caller may see it. Code that was not saved has no file,
 * and no trace.
 */
function isShownRun(run: RunSample, filter: FileFilter): boolean {
  const { ownerId, valId, fileId, branchId } = run
  const { branchIds = [branchId] } = filter
  return (
    ownerId !== null &&
    valId !== ownerId &&
    branchIds.includes(branchId) &&
    (filter.fileId ?? fileId) === fileId
  )
}

async function* oneBatch(batch: readonly RunSample[]): RunBatches {
  yield batch
}

const noHeaders: KeptHeaders = { request: null, response: null }

/** Headers are left out where the secrets that they may contain cannot be read. */
function ignoreUnreadableSecrets(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error
}

function toShownHeaders(
  { request, response }: KeptHeaders,
  mask: Mask | undefined,
): Pick<Trace, "requestHeaders" | "responseHeaders"> {
  // The headers of the response were masked when they were recorded.
  return {
    requestHeaders: mask
      ? keepHeaders(request ?? [], limits.headerBytesMax, mask).filter(isShown)
      : [],
    responseHeaders: (response ?? []).filter(isShown),
  }
}

function isShown([name]: readonly [string, string]): boolean {
  return !isCredentialHeader(name)
}

/** Each line gets a time of its own: its number among those of its millisecond, in nanoseconds. */
function toLogs(run: RunSample, lines: readonly LogLine[]): readonly TelemetryLog[] {
  const counts = new Map<number, number>()
  const { fileId, branchId } = run
  return lines.map((line, index) => {
    const ms = Date.parse(line.at)
    const number = counts.get(ms) ?? 0
    counts.set(ms, number + 1)
    const key = `${run.id} ${String(index).padStart(6, "0")}`
    return { at: toNanos(ms) + BigInt(number), key, runId: run.id, line, fileId, branchId }
  })
}
