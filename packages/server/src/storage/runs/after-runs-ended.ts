import type { EndedRun } from "../../domain/queue/queued-run.ts"
import type { Dialect } from "../database/dialect.ts"
import type { Statements } from "../database/sql.ts"
import { emitRunEvents } from "../events/run-events.ts"
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
