import { type Database, firstId, type Statement, sql } from "@hamlet/database"
import type { ClaimedBatch, ClaimRequest } from "../../domain/queue/queue-store.ts"

/** Rows that wait, of owners that take turns. It has an index of free rows by owner and due time. */
export interface Line {
  readonly table: Statement
  readonly owner: Statement
  readonly dueAt: Statement
  /** The row waits, and may be claimed once it is due. */
  readonly isFree: Statement
}

/** The owners of one claim, each with the number of rows to claim. */
export interface Turns extends Pick<ClaimedBatch, "next"> {
  readonly shares: readonly { readonly ownerId: string; readonly countMax: number }[]
}

const limits = {
  /** Owners that one claim looks at. */
  ownersSeenMax: 256,
  /** Owners that one claim takes rows of. Each needs statements of its own, or a part of one. */
  ownersMax: 32,
}

interface TurnRow {
  readonly ownerId: string
  readonly place: number
  /** Whether the owner has a row that is due. */
  readonly isDue: boolean
}

/**
 * Divides a claim among the next owners that have due rows, as equally as their room allows: one with
 * many rows delays the others by no more than its share of one claim. It is a plain read, so that a
 * table without work costs no transaction.
 */
export async function readTurns(
  db: Database,
  line: Line,
  countMax: number,
  { after, roomOf }: Pick<ClaimRequest, "after" | "roomOf">,
): Promise<Turns> {
  const found = await db.read<TurnRow>(listOwners(line, after ?? firstId, db.dialect.now))
  const turns = found.toSorted((one, other) => one.place - other.place)
  const ownersMax = Math.min(limits.ownersMax, countMax)
  const rooms: { ownerId: string; room: number }[] = []
  let last: string | null = null
  for (const { ownerId, isDue } of turns) {
    if (rooms.length === ownersMax) break
    last = ownerId
    const room = isDue ? roomOf(ownerId) : 0
    if (room > 0) rooms.push({ ownerId, room })
  }
  const isComplete = turns.length < limits.ownersSeenMax && last === turns.at(-1)?.ownerId
  const equal = Math.max(1, Math.floor(countMax / Math.max(1, rooms.length)))
  return {
    shares: rooms.map(({ ownerId, room }) => ({ ownerId, countMax: Math.min(room, equal) })),
    next: isComplete || turns.length === 0 ? null : last,
  }
}

/** Skips from owner to owner in the index: one with many rows costs no more than one with few. */
function listOwners({ table, owner, dueAt, isFree }: Line, after: string, now: Statement) {
  return sql`
    with recursive turns (owner_id, place) as (
      select * from (select ${owner}, 1 as place from ${table} where ${isFree} and ${owner} > ${after} order by ${owner} limit 1) first_turn
      union all
      select (select ${owner} from ${table} where ${isFree} and ${owner} > turns.owner_id order by ${owner} limit 1), turns.place + 1
      from turns where turns.owner_id is not null and turns.place < ${limits.ownersSeenMax}
    )
    select owner_id, place, case when (
        select ${dueAt} from ${table} where ${owner} = turns.owner_id and ${isFree} order by ${dueAt} limit 1) <= ${now}
      then 1 else 0 end as is_due
    from turns where owner_id is not null`
}
