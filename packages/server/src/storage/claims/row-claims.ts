import type { Claim, ClaimQueue, WaitingStats } from "../../domain/claims.ts"
import { type Database, firstRow, rows, type Script } from "../database/database.ts"
import { firstId } from "../database/pagination.ts"
import { join, raw, type Statement, type Statements, sql, withNotice } from "../database/sql.ts"
import { createLanes, isOvertaken, type LaneRow } from "./lanes.ts"

/** How rows of a table are told apart. */
export interface ClaimKey {
  readonly columns: string
  /** The id of a row with these columns. */
  toId(row: { readonly [column: string]: unknown }): string
  /** The condition for the row with that id. */
  isRow(id: string): Statement
}

const byId: ClaimKey = {
  columns: "id",
  toId: ({ id }) => String(id),
  isRow: (id) => sql`id = ${id}`,
}

/** A table whose rows are claimed. */
export interface ClaimedTable {
  readonly table: string
  /** By default the column `id`. */
  readonly key?: ClaimKey
  /** The column with the account that pays for the work: accounts take turns. */
  readonly owner: string
  /** Whether the table has a column `lane` (`lanes.ts`). */
  readonly hasLanes: boolean
  /** The node that claims rows. */
  readonly nodeId: string
  /** Claims of one owner at the same time, on one node. */
  readonly perOwnerMax: number
}

/** The claims of rows in the database. */
export interface RowClaims extends ClaimQueue {
  /**
   * Part of a transaction: the row waits no more. `set` lists further columns of the table. False,
   * and no change, when the claim is no longer valid.
   */
  end(claim: Claim, set: Statement): Statements<boolean>
  /** The same, but the row is due again after the delay. */
  postpone(claim: Claim, delayMs: number, set: Statement): Statements<boolean>
  stats(): Promise<WaitingStats>
}

const limits = {
  /** Rows that are examined for each claim: most rows of a lane have to wait. */
  candidatesPerClaim: 4,
  /** Rows that wait are counted up to this number. */
  countedMax: 10_000,
  /** Searches for claims of one owner in a transaction. */
  searchesMax: 8,
  /** Claimed rows that are looked at together. More than one node works on at a time. */
  takenOverMax: 1_000,
}

/** Part of a transaction that inserts rows of the table: those that work on them learn of it at once. */
export function asAdded(table: string, insert: Statement): Statement {
  return withNotice(insert, toChannel(table))
}

function toChannel(table: string): string {
  return `hamlet_${table}`
}

interface KeyRow {
  readonly [column: string]: unknown
}

interface DueRow extends LaneRow {
  readonly now: number
}

interface LostRow extends KeyRow {
  readonly fence: number
}

interface ClaimedRow extends KeyRow {
  readonly fence: number
  readonly attempts: number
}

/**
 * Claims rows of a table. It has the columns `attempts`, `fence`, `next_attempt_at` and `node_id`,
 * and for lanes and `stats` a `created_at`. It has indexes of the rows with a `next_attempt_at`: by it,
 * by owner and it, and by lane and id, and one of the rows with a `node_id`. A row waits while it has a
 * `next_attempt_at`, and is claimed while it has a `node_id`.
 */
export function createRowClaims(db: Database, options: ClaimedTable): RowClaims {
  const parts = createParts(db, options)
  let lastOwner = firstId
  return {
    ...parts,
    async claim(countMax, held) {
      const inFlight = Map.groupBy(held, (claim) => claim.ownerId)
      const roomOf = (ownerId: string) => options.perOwnerMax - (inFlight.get(ownerId)?.length ?? 0)
      // A plain read, so that a table without work costs no transaction.
      const found = await findDueOwners(db, parts.ownersAfter, lastOwner, countMax + inFlight.size)
      const owners = found.filter((ownerId) => roomOf(ownerId) > 0).slice(0, countMax)
      if (owners.length === 0) return []
      const share = Math.max(1, Math.floor(countMax / owners.length))
      lastOwner = owners.at(-1) ?? lastOwner
      return db.write(function* () {
        const claims: Claim[] = []
        for (const ownerId of owners)
          claims.push(...(yield* parts.claimOf(ownerId, Math.min(share, roomOf(ownerId)))))
        return claims
      })
    },
    async takeOver(held) {
      const isHeld = new Set(held.map(({ id }) => id))
      // A plain read, so that a table without such rows costs no transaction.
      const found = await db.read<LostRow>(parts.lost())
      const lost = found.filter((row) => !isHeld.has(parts.toId(row)))
      if (lost.length === 0) return
      await db.write(function* () {
        for (const row of lost) yield parts.takenOver(row)
      })
    },
    giveBack: (claim, delayMs) =>
      db.write(function* () {
        yield delayMs === undefined ? parts.givenBack(claim) : parts.postponed(claim, delayMs)
      }),
    async nextDueMs() {
      const [next] = await db.read<{ ms: number }>(parts.next())
      return next && Math.max(0, next.ms)
    },
    listen: (onAdded) => db.listen(toChannel(options.table), onAdded),
    async stats() {
      const [found] = await db.read<{ count: number; ms: number | null }>(parts.waiting())
      return { waiting: found?.count ?? 0, oldestMs: Math.max(0, found?.ms ?? 0) }
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

/** The statements about the table. */
function createParts(db: Database, { hasLanes, nodeId, key = byId, ...names }: ClaimedTable) {
  const { dialect } = db
  const [table, owner] = [raw(names.table), raw(names.owner)]
  const isWaiting = raw("next_attempt_at is not null")
  const isFree = raw("next_attempt_at is not null and node_id is null")
  const isAlive = (id: Statement) =>
    sql`coalesce((select n.is_gone from nodes n where n.id = ${id}), 1) = 0`
  const isValid = (claim: Claim) =>
    sql`${key.isRow(claim.id)} and fence = ${claim.fence} and node_id = ${nodeId}`
  const areRows = (found: readonly KeyRow[]) =>
    sql`(${join(
      found.map((row) => key.isRow(key.toId(row))),
      " or ",
    )})`

  const lanes = hasLanes ? createLanes(table) : undefined

  return {
    toId: key.toId,
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
        select next_attempt_at from ${table} where ${owner} = owners.id and ${isFree}
        order by next_attempt_at limit 1) <= ${dialect.now}
      limit ${countMax}`,
    *claimOf(ownerId: string, countMax: number): Script<readonly Claim[]> {
      const claims: Claim[] = []
      for (let search = 0; search < limits.searchesMax && claims.length < countMax; search++) {
        const left = countMax - claims.length
        const dueMax = lanes ? left * limits.candidatesPerClaim : left
        const due = yield* rows<DueRow>(sql`
          select ${raw(key.columns)}, attempts, ${dialect.now} as now ${raw(hasLanes ? ", lane" : "")} from ${table}
          where ${owner} = ${ownerId} and ${isFree} and next_attempt_at <= ${dialect.now}
          order by next_attempt_at limit ${dueMax}`)
        if (due.length === 0) break
        const at = Number(due[0]?.now)
        const free = lanes ? yield* lanes.findFree(due, at) : due
        const taken = free.slice(0, left)
        if (taken.length === 0) continue
        // Another node may have claimed some of them meanwhile, or have declared this node gone.
        const claimed = yield* rows<ClaimedRow>(sql`
          update ${table} set attempts = attempts + 1, fence = fence + 1, node_id = ${nodeId}
          where ${areRows(taken)} and next_attempt_at <= ${at} and node_id is null and ${isAlive(sql`${nodeId}`)}
          returning ${raw(key.columns)}, fence, attempts`)
        for (const { fence, attempts, ...row } of claimed)
          claims.push({ id: key.toId(row), ownerId, fence, attempts })
        if (due.length < dueMax) break
      }
      return claims
    },
    givenBack: (claim: Claim) => sql`
      update ${table} set attempts = attempts - 1, fence = fence + 1, node_id = null where ${isValid(claim)}`,
    postponed: (claim: Claim, delayMs: number) => sql`
      update ${table} set next_attempt_at = ${dialect.now} + ${delayMs}, fence = fence + 1, node_id = null where ${isValid(claim)}`,
    /** Those of this node included: the caller knows which of them it works on. */
    lost: () => sql`
      select ${raw(key.columns)}, fence from ${table}
      where node_id is not null and (node_id = ${nodeId} or not ${isAlive(sql`${table}.node_id`)})
      limit ${limits.takenOverMax}`,
    takenOver: ({ fence, ...row }: LostRow) => sql`
      update ${table} set fence = fence + 1, node_id = null
      where ${key.isRow(key.toId(row))} and fence = ${fence} and node_id is not null`,
    next: () => sql`
      select next_attempt_at - ${dialect.now} as ms from ${table} where ${isFree}
      order by next_attempt_at limit 1`,
    waiting: () => sql`
      select count(*) as count, ${dialect.now} - min(created_at) as ms from (
        select created_at from ${table} where ${isWaiting} order by next_attempt_at limit ${limits.countedMax}) counted`,
    *end(claim: Claim, set: Statement): Statements<boolean> {
      const ended = yield* firstRow<{ lane?: string | null }>(sql`
        update ${table} set next_attempt_at = null, node_id = null, ${set} where ${isValid(claim)}
        returning ${raw(hasLanes ? "lane" : "fence")}`)
      if (ended?.lane != null) yield* lanes?.releaseNext(ended.lane) ?? []
      return ended !== undefined
    },
    *postpone(claim: Claim, delayMs: number, set: Statement): Statements<boolean> {
      const postponed = yield* firstRow<{ lane?: string | null }>(sql`
        update ${table} set next_attempt_at = ${dialect.now} + ${delayMs}, node_id = null, ${set} where ${isValid(claim)}
        returning ${raw(hasLanes ? "lane" : "fence")}`)
      if (postponed?.lane != null && isOvertaken(claim))
        yield* lanes?.releaseNext(postponed.lane) ?? []
      return postponed !== undefined
    },
  }
}
