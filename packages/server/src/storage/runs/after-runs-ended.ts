import { type Dialect, inBatches, list, rows, type Statements } from "@hamlet/database"
import type { EndedRun } from "../../domain/queue/queue-store.ts"
import { isUnsaved } from "../../domain/runs/runs.ts"
import type { EventType, NewEvent } from "../../domain/webhooks/events.ts"
import { emitEvents } from "../events/emit-events.ts"
import { noteScheduledRuns } from "../schedules/note-ended-runs.ts"

/** Statements for runs that end, in the transaction that records their end. */
export type AfterRunsEnded = (dialect: Dialect, ended: readonly EndedRun[]) => Statements<void>

/**
 * What else is written when runs end. Thousands of runs may end each second, so a part costs nearly
 * nothing when none of them concerns it. It may run on a thread: it has only its arguments. A run
 * may end twice, if an error becomes known after its response: it is then listed again as failed.
 */
const parts: readonly AfterRunsEnded[] = [noteScheduledRuns, emitRunEvents]

export function* afterRunsEnded(dialect: Dialect, ended: readonly EndedRun[]): Statements<void> {
  if (ended.length === 0) return
  for (const part of parts) yield* part(dialect, ended)
}

const limits = {
  /** Characters of the message of an error. The run itself has the rest. */
  messageCharsMax: 1_000,
}

/** Part of a transaction that ends runs: emits their events to the owners of their vals. */
function* emitRunEvents(dialect: Dialect, ended: readonly EndedRun[]): Statements<void> {
  const ownerIds = new Set<string>()
  for (const run of ended) if (typeOf(run) !== undefined) ownerIds.add(run.ownerId)
  const subscribed = yield* findSubscribed([...ownerIds])
  if (subscribed.size === 0) return
  const told = ended.filter((run) => subscribed.has(run.ownerId))
  const places = yield* findPlaces([...new Set(told.map(({ fileId }) => fileId))])
  yield* emitEvents(
    dialect,
    told.flatMap((run) => toEvent(run, places.get(run.fileId)) ?? []),
  )
}

/** A file and its branch, as events name them. */
interface EventPlace {
  readonly file: { readonly id: string; readonly path: string }
  readonly branch: { readonly id: string; readonly name: string }
}

function* findPlaces(fileIds: readonly string[]): Statements<ReadonlyMap<string, EventPlace>> {
  const found = new Map<string, EventPlace>()
  for (const batch of inBatches(fileIds)) {
    for (const place of yield* rows<EventPlace>`
      select f.id as file__id, f.path as file__path, b.id as branch__id, b.name as branch__name
      from files f join branches b on b.id = f.branch_id where f.id in (${list(batch)})`)
      found.set(place.file.id, place)
  }
  return found
}

/** One statement for nearly all batches: thousands of runs per second ask it. */
function* findSubscribed(ownerIds: readonly string[]): Statements<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const batch of inBatches(ownerIds)) {
    for (const row of yield* rows<{ ownerId: string }>`
      select owner_id from webhooks where owner_id in (${list(batch)}) and has_run_events = 1 and status = 'active'`)
      found.add(row.ownerId)
  }
  return found
}

/** A cancelled run has neither failed nor succeeded. */
function typeOf(run: EndedRun): EventType | undefined {
  const { status } = run
  if (isUnsaved(run)) return undefined
  if (status === "succeeded") return "run.succeeded"
  return status === "failed" || status === "timed_out" || status === "crashed"
    ? "run.failed"
    : undefined
}

function toEvent(run: EndedRun, place: EventPlace | undefined): NewEvent | undefined {
  const type = typeOf(run)
  const { id, valId, ownerId, source, status, version, startedAt, endedAt, depth } = run
  return (
    type && {
      type,
      ownerId,
      valId,
      depth,
      key: `${type}/${id}`,
      at: endedAt,
      data: {
        run: {
          id,
          status,
          source,
          version,
          file: place?.file ?? null,
          branch: place?.branch ?? null,
          runStartAt: new Date(startedAt).toISOString(),
          runEndAt: new Date(endedAt).toISOString(),
          durationMs: endedAt - startedAt,
          error: run.error && {
            name: run.error.name,
            message: run.error.message.slice(0, limits.messageCharsMax),
          },
        },
      },
    }
  )
}
