import {
  type Database,
  firstRow,
  join,
  nothing,
  raw,
  rows,
  type Script,
  type Statement,
  type Statements,
  sql,
  withNotice,
} from "@hamlet/database"
import type { Claim, ClaimQueue, WaitingStats } from "../../domain/claims.ts"
import { createLanes, isOvertaken, type LaneRow } from "./lanes.ts"
import { isLive } from "./node-claims.ts"
import { readTurns } from "./turns.ts"

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
  /**
   * Part of a transaction: the row is due again after the delay, as after `fail`, which has no
   * outcome. False, and no change, when the claim is no longer valid.
   */
  postpone(claim: Claim, delayMs: number, set: Statement): Statements<boolean>
  /** Part of a transaction: changes columns of the row, and the claim goes on. */
  note(claim: Claim, set: Statement): Statements<boolean>
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

interface ClaimedRow extends KeyRow {
  readonly fence: number
}

/**
 * Claims rows of a table. It has the columns `attempts`, `fence`, `next_attempt_at` and `node_id`,
 * and for lanes and `stats` a `created_at`. It has indexes of the rows with a `next_attempt_at`: by it,
 * by owner and it, and by lane and id, and one of the rows with a `node_id`. A row has a
 * `next_attempt_at` until it is over, and while it is claimed, a `node_id` too.
 */
export function createRowClaims(db: Database, options: ClaimedTable): RowClaims {
  const parts = createParts(db, options)
  let after: string | null = null
  return {
    ...parts,
    async claim(countMax, held) {
      const inFlight = Map.groupBy(held, (claim) => claim.ownerId)
      const roomOf = (ownerId: string) => options.perOwnerMax - (inFlight.get(ownerId)?.length ?? 0)
      // The owners behind the last claim, then all of them.
      for (let rounds = after === null ? 1 : 2; rounds > 0; ) {
        const { shares, next } = await readTurns(db, parts.line, countMax, { after, roomOf })
        after = next
        if (next === null) rounds -= 1
        if (shares.length === 0) continue
        const claims = await db.write(function* () {
          const claimed: Claim[] = []
          for (const share of shares)
            claimed.push(...(yield* parts.claimOf(share.ownerId, share.countMax)))
          return claimed
        })
        if (claims.length > 0) return claims
      }
      return []
    },
    async takeOver(held) {
      const isHeld = new Set(held.map(({ id }) => id))
      // A plain read, so that a table without such rows costs no transaction.
      const found = await db.read<ClaimedRow>(parts.lost())
      const lost = found.filter((row) => !isHeld.has(parts.toId(row)))
      if (lost.length === 0) return
      await db.write(function* () {
        for (const row of lost) yield parts.takenOver(row)
      })
    },
    async giveBack(claim) {
      await db.write(() => parts.leave(claim, sql`attempts = attempts - 1`, false))
    },
    async fail(claim, delayMs) {
      await db.write(() => parts.postpone(claim, delayMs))
    },
    async nextDueMs() {
      const next = await db.first<{ ms: number }>(parts.next())
      return next && Math.max(0, next.ms)
    },
    listen: (onAdded) => db.listen(toChannel(options.table), onAdded),
    async stats() {
      const found = await db.first<{ count: number; ms: number | null }>(parts.waiting())
      return { waiting: found?.count ?? 0, oldestMs: Math.max(0, found?.ms ?? 0) }
    },
  }
}

/** The statements about the table. */
function createParts(db: Database, { hasLanes, nodeId, key = byId, ...names }: ClaimedTable) {
  const { dialect } = db
  const [table, owner] = [raw(names.table), raw(names.owner)]
  const isWaiting = raw("next_attempt_at is not null")
  const isFree = raw("next_attempt_at is not null and node_id is null")
  const line = { table, owner, dueAt: raw("next_attempt_at"), isFree }
  const areRows = (found: readonly KeyRow[]) =>
    sql`(${join(
      found.map((row) => key.isRow(key.toId(row))),
      " or ",
    )})`

  const lanes = hasLanes ? createLanes(table) : undefined

  const isHeld = ({ id, fence }: Claim) =>
    sql`${key.isRow(id)} and fence = ${fence} and node_id = ${nodeId}`

  /**
   * Ends the claim; false, and no change, if it is over. No later record matches: its node is not in the
   * row any more, and the next claim has a higher fence.
   */
  function* leave(claim: Claim, set: Statement, freesLane: boolean): Statements<boolean> {
    const left = yield* firstRow<{ lane?: string | null }>`
      update ${table} set node_id = null, ${set}
      where ${isHeld(claim)} returning ${raw(hasLanes ? "lane" : "fence")}`
    if (left?.lane != null && freesLane) yield* lanes?.releaseNext(left.lane) ?? []
    return left !== undefined
  }

  return {
    leave,
    line,
    toId: key.toId,
    *claimOf(ownerId: string, countMax: number): Script<readonly Claim[]> {
      const claims: Claim[] = []
      for (let search = 0; search < limits.searchesMax && claims.length < countMax; search++) {
        const left = countMax - claims.length
        const dueMax = lanes ? left * limits.candidatesPerClaim : left
        const due = yield* rows<LaneRow & { now: number }>`
          select ${raw(key.columns)}, attempts, ${dialect.now} as now ${raw(hasLanes ? ", lane" : "")} from ${table}
          where ${owner} = ${ownerId} and ${isFree} and next_attempt_at <= ${dialect.now}
          order by next_attempt_at limit ${dueMax}`
        if (due.length === 0) break
        const at = Number(due[0]?.now)
        const free = lanes ? yield* lanes.findFree(due, at) : due
        const taken = free.slice(0, left)
        if (taken.length === 0) continue
        // Another node may have claimed some of them meanwhile, or have declared this node gone.
        const claimed = yield* rows<ClaimedRow & { attempts: number }>`
          update ${table} set attempts = attempts + 1, fence = fence + 1, node_id = ${nodeId}
          where ${areRows(taken)} and next_attempt_at <= ${at} and node_id is null and ${isLive(sql`${nodeId}`)}
          returning ${raw(key.columns)}, fence, attempts`
        for (const { fence, attempts, ...row } of claimed)
          claims.push({ id: key.toId(row), ownerId, fence, attempts })
        if (due.length < dueMax) break
      }
      return claims
    },
    /**
     * Claims that are lost, those of this node included: the caller knows which of them it works
     * on.
     */
    lost: () => sql`
      select ${raw(key.columns)}, fence from ${table}
      where node_id is not null and (node_id = ${nodeId} or not ${isLive(raw(`${names.table}.node_id`))})
      limit ${limits.takenOverMax}`,
    takenOver: ({ fence, ...row }: ClaimedRow) => sql`
      update ${table} set node_id = null
      where ${key.isRow(key.toId(row))} and fence = ${fence} and node_id is not null`,
    next: () => sql`
      select next_attempt_at - ${dialect.now} as ms from ${table} where ${isFree}
      order by next_attempt_at limit 1`,
    waiting: () => sql`
      select count(*) as count, ${dialect.now} - min(created_at) as ms from (
        select created_at from ${table} where ${isWaiting} order by next_attempt_at limit ${limits.countedMax}) counted`,
    end: (claim: Claim, set: Statement) => leave(claim, sql`next_attempt_at = null, ${set}`, true),
    postpone(claim: Claim, delayMs: number, set = nothing) {
      const due = sql`next_attempt_at = ${dialect.now} + ${delayMs}`
      return leave(claim, set === nothing ? due : sql`${due}, ${set}`, isOvertaken(claim))
    },
    *note(claim: Claim, set: Statement): Statements<boolean> {
      const noted =
        yield* firstRow`update ${table} set ${set} where ${isHeld(claim)} returning fence`
      return noted !== undefined
    },
  }
}
