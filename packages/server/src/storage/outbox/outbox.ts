import type { OutboxClaim, OutboxQueue } from "../../domain/outbox.ts"
import { list } from "../database/batch-sizes.ts"
import { type Database, firstRow, rows, type Script } from "../database/database.ts"
import { firstId } from "../database/pagination.ts"
import { raw, type Statement, type Statements, sql, withNotice } from "../database/sql.ts"

/** The table of an outbox. */
export interface OutboxOptions {
  readonly table: string
  /** The column with the account that pays for a message: accounts take turns. */
  readonly owner: string
  /**
   * Whether the table has a column `lane`. The rows of a lane are sent one at a time, in the order
   * of their ids; rows without a lane in any order.
   */
  readonly hasLanes: boolean
  /** How long a claim is valid. A message that takes longer to send renews it. */
  readonly leaseMs: number
  /** Claims of one owner at the same time, on one node. */
  readonly perOwnerMax: number
}

/** An outbox in the database. */
export interface Outbox extends OutboxQueue {
  /**
   * Part of a transaction: the row waits no more. `set` lists further columns of the table. False,
   * and no change, when the claim is no longer valid.
   */
  end(claim: OutboxClaim, set: Statement): Statements<boolean>
  /** The same, but the row is due again after the delay. */
  postpone(claim: OutboxClaim, delayMs: number, set: Statement): Statements<boolean>
}

const limits = {
  /** A row that was tried this often no longer holds up the rows behind it in its lane. */
  lanePatience: 5,
  /** Rows that are examined for each claim: most rows of a lane have to wait. */
  candidatesPerClaim: 4,
  /** Rows that wait are counted up to this number. */
  countedMax: 10_000,
  /** Searches for claims of one owner in a transaction. */
  searchesMax: 8,
}

/** Part of a transaction that inserts rows of the table: those that send them learn of it at once. */
export function asAdded(table: string, insert: Statement): Statement {
  return withNotice(insert, toChannel(table))
}

function toChannel(table: string): string {
  return `hamlet_${table}`
}

interface WaitingRow {
  readonly id: string
  readonly lane?: string | null
  readonly attempts: number
  readonly now: number | string
}

interface HeadRow {
  readonly id: string
  readonly next_attempt_at: number | string
}

interface ClaimedRow {
  readonly id: string
  readonly fence: number
  readonly attempts: number
}

/**
 * Creates an outbox. Its table has the columns `id`, `attempts`, `fence`, `next_attempt_at` and
 * `created_at`, and indexes of the rows with a `next_attempt_at`: by it, by owner and it, and by
 * lane and id. The clock of the database decides what is due.
 */
export function createOutbox(db: Database, options: OutboxOptions): Outbox {
  const parts = createParts(db, options)
  let lastOwner = firstId
  return {
    ...parts,
    async claim(countMax, inFlight) {
      const roomOf = (ownerId: string) => options.perOwnerMax - (inFlight.get(ownerId) ?? 0)
      // A plain read, so that an outbox without work costs no transaction.
      const found = await findDueOwners(db, parts.ownersAfter, lastOwner, countMax + inFlight.size)
      const owners = found.filter((ownerId) => roomOf(ownerId) > 0).slice(0, countMax)
      if (owners.length === 0) return []
      const share = Math.max(1, Math.floor(countMax / owners.length))
      lastOwner = owners.at(-1) ?? lastOwner
      return db.write(function* () {
        const claims: OutboxClaim[] = []
        for (const ownerId of owners)
          claims.push(...(yield* parts.claimOf(ownerId, Math.min(share, roomOf(ownerId)))))
        return claims
      })
    },
    renew: (claim) =>
      db.write(function* () {
        return (yield* firstRow(parts.renewed(claim))) !== undefined
      }),
    giveBack: (claim) =>
      db.write(function* () {
        yield parts.givenBack(claim)
      }),
    async nextDueMs() {
      const [next] = await db.read<{ ms: number | string }>(parts.next)
      return next && Math.max(0, Number(next.ms))
    },
    listen: (onAdded) => db.listen(toChannel(options.table), onAdded),
    async stats() {
      const [found] = await db.read<{ count: number | string; ms: number | string | null }>(
        parts.waiting,
      )
      return { waiting: Number(found?.count ?? 0), oldestMs: Math.max(0, Number(found?.ms ?? 0)) }
    },
  }
}

/** Owners after the last one that was served, then those before it. */
async function findDueOwners(
  db: Database,
  ownersAfter: (ownerId: string, countMax: number) => Statement,
  after: string,
  countMax: number,
): Promise<readonly string[]> {
  const next = await db.read<{ id: string }>(ownersAfter(after, countMax))
  const first =
    next.length < countMax && after !== firstId
      ? await db.read<{ id: string }>(ownersAfter(firstId, countMax))
      : []
  return [...new Set([...next, ...first].map(({ id }) => id))]
}

/** The statements of an outbox. */
function createParts(db: Database, { hasLanes, leaseMs, ...names }: OutboxOptions) {
  const [table, owner, now] = [raw(names.table), raw(names.owner), db.dialect.now]
  const isWaiting = raw("next_attempt_at is not null")
  const isValid = (claim: OutboxClaim) =>
    sql`id = ${claim.id} and fence = ${claim.fence} and ${isWaiting}`

  /** The row at the head of a lane may be sent; overtaken rows are beside the lane. */
  const headOf = (lane: string, columns: string) => sql`
    select ${raw(columns)} from ${table}
    where lane = ${lane} and ${isWaiting} and attempts < ${limits.lanePatience} order by id limit 1`

  /** The time puts it before new rows, which wait behind it. */
  const releaseNext = (lane: string) => sql`
    update ${table} set next_attempt_at = created_at where id = (${headOf(lane, "id")}) and attempts = 0`

  /**
   * The rows that may be sent. Those behind the head of their lane are not due before the head is
   * tried again; `releaseNext` makes the first of them due earlier.
   */
  function* findSendable(due: readonly WaitingRow[], at: number): Script<readonly WaitingRow[]> {
    const sendable = due.filter(
      ({ lane, attempts }) => lane == null || attempts >= limits.lanePatience,
    )
    const inLanes = Map.groupBy(
      due.filter((row) => !sendable.includes(row)),
      ({ lane }) => lane ?? "",
    )
    for (const [lane, behind] of inLanes) {
      const head = yield* firstRow<HeadRow>(headOf(lane, "id, next_attempt_at"))
      const parked = behind.filter(({ id }) => id !== head?.id)
      sendable.push(...behind.filter(({ id }) => id === head?.id))
      const until = Math.max(at + leaseMs, Number(head?.next_attempt_at) + 1)
      if (parked.length > 0)
        yield sql`update ${table} set next_attempt_at = ${until}
          where id in (${list(parked.map(({ id }) => id))}) and next_attempt_at <= ${at}`
    }
    return sendable
  }

  return {
    /**
     * Skips from owner to owner in the index, so that an owner with many rows costs no more than
     * one with few.
     */
    ownersAfter: (ownerId: string, countMax: number) => sql`
      with recursive owners (id) as (
        select * from (select ${owner} from ${table} where ${isWaiting} and ${owner} > ${ownerId} order by ${owner} limit 1) first
        union all
        select (select ${owner} from ${table} where ${isWaiting} and ${owner} > owners.id order by ${owner} limit 1)
        from owners where owners.id is not null
      )
      select id from owners where id is not null and (
        select next_attempt_at from ${table} where ${owner} = owners.id and ${isWaiting}
        order by next_attempt_at limit 1) <= ${now}
      limit ${countMax}`,
    *claimOf(ownerId: string, countMax: number): Script<readonly OutboxClaim[]> {
      const claims: OutboxClaim[] = []
      for (let search = 0; search < limits.searchesMax && claims.length < countMax; search++) {
        const left = countMax - claims.length
        const dueMax = hasLanes ? left * limits.candidatesPerClaim : left
        const due = yield* rows<WaitingRow>(sql`
          select id, attempts, ${now} as now ${raw(hasLanes ? ", lane" : "")} from ${table}
          where ${owner} = ${ownerId} and ${isWaiting} and next_attempt_at <= ${now}
          order by next_attempt_at limit ${dueMax}`)
        if (due.length === 0) break
        const at = Number(due[0]?.now)
        const sendable = hasLanes ? yield* findSendable(due, at) : due
        const taken = sendable.slice(0, left)
        if (taken.length === 0) continue
        // Another node may have claimed some of them meanwhile.
        const claimed = yield* rows<ClaimedRow>(sql`
          update ${table} set attempts = attempts + 1, fence = fence + 1, next_attempt_at = ${at + leaseMs}
          where id in (${list(taken.map(({ id }) => id))}) and next_attempt_at <= ${at}
          returning id, fence, attempts`)
        claims.push(...claimed.map((row) => ({ ...row, ownerId })))
        if (due.length < dueMax) break
      }
      return claims
    },
    renewed: (claim: OutboxClaim) => sql`
      update ${table} set next_attempt_at = ${now} + ${leaseMs} where ${isValid(claim)} returning id`,
    givenBack: (claim: OutboxClaim) => sql`
      update ${table} set next_attempt_at = ${now}, attempts = attempts - 1, fence = fence + 1
      where ${isValid(claim)}`,
    next: sql`
      select next_attempt_at - ${now} as ms from ${table} where ${isWaiting}
      order by next_attempt_at limit 1`,
    waiting: sql`
      select count(*) as count, ${now} - min(created_at) as ms from (
        select created_at from ${table} where ${isWaiting} order by next_attempt_at limit ${limits.countedMax}) counted`,
    *end(claim: OutboxClaim, set: Statement): Statements<boolean> {
      const ended = yield* firstRow<{ lane?: string | null }>(sql`
        update ${table} set next_attempt_at = null, ${set} where ${isValid(claim)}
        returning ${raw(hasLanes ? "lane" : "id")}`)
      if (!ended) return false
      if (hasLanes && ended.lane != null) yield releaseNext(ended.lane)
      return true
    },
    *postpone(claim: OutboxClaim, delayMs: number, set: Statement): Statements<boolean> {
      const postponed = yield* firstRow<{ lane?: string | null }>(sql`
        update ${table} set next_attempt_at = ${now} + ${delayMs}, ${set} where ${isValid(claim)}
        returning ${raw(hasLanes ? "lane" : "id")}`)
      if (!postponed) return false
      const isOvertaken = claim.attempts >= limits.lanePatience
      if (hasLanes && postponed.lane != null && isOvertaken) yield releaseNext(postponed.lane)
      return true
    },
  }
}
