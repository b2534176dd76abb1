import { firstRow, list, raw, type Statement, type Statements, sql } from "@hamlet/database"

/** A row of a table with lanes. */
export interface LaneRow {
  readonly [column: string]: unknown
  readonly id: string
  readonly lane?: string | null
  readonly attempts: number
}

const limits = {
  /** A row that was tried this often no longer holds up the rows behind it. */
  patience: 5,
  /** How long a row is not looked at that waits for the head of its lane. */
  parkedMs: 20_000,
}

/** Rows behind it no longer wait for it. */
export function isOvertaken({ attempts }: { readonly attempts: number }): boolean {
  return attempts >= limits.patience
}

/**
 * The rows of a lane are claimed one at a time, in the order of their ids; rows without a lane in any
 * order.
 */
export function createLanes(table: Statement) {
  /** Overtaken rows are beside the lane. */
  const headOf = (lane: string, columns: string) => sql`
    select ${raw(columns)} from ${table}
    where lane = ${lane} and next_attempt_at is not null and attempts < ${limits.patience} order by id limit 1`

  return {
    /** The first row of the lane is due. Its time puts it before new rows, which wait behind it. */
    *releaseNext(lane: string): Statements<void> {
      yield sql`update ${table} set next_attempt_at = created_at where id = (${headOf(lane, "id")}) and attempts = 0`
    },
    /**
     * The due rows that may be claimed. Those behind the head of their lane are not due before the
     * head is tried again; `releaseNext` makes the first of them due earlier.
     */
    *findFree<Row extends LaneRow>(due: readonly Row[], at: number): Statements<readonly Row[]> {
      const free = due.filter((row) => row.lane == null || isOvertaken(row))
      const inLanes = Map.groupBy(
        due.filter((row) => !free.includes(row)),
        ({ lane }) => lane ?? "",
      )
      for (const [lane, behind] of inLanes) {
        const head = yield* firstRow<{ id: string; nextAttemptAt: number }>(
          headOf(lane, "id, next_attempt_at"),
        )
        // Another node has ended all of them meanwhile.
        if (!head) continue
        const parked = behind.filter(({ id }) => id !== head.id)
        free.push(...behind.filter(({ id }) => id === head.id))
        const until = Math.max(at + limits.parkedMs, head.nextAttemptAt + 1)
        if (parked.length > 0)
          yield sql`update ${table} set next_attempt_at = ${until}
            where id in (${list(parked.map(({ id }) => id))}) and next_attempt_at <= ${at}`
      }
      return free
    },
  }
}
