import type { BudgetStore } from "../domain/limits/budgets.ts"
import { type MinuteCounts, sumCounts } from "../domain/limits/minute-counts.ts"
import {
  type Budget,
  type BudgetAnswer,
  type BudgetAsk,
  isSlotAsk,
  type SlotHolder,
  settleRate,
  settleSlots,
} from "../domain/limits/settle-budget.ts"
import { parseOwnJson, toOwnJson } from "../shared/hostile-input/bounded.ts"
import { type Database, rows } from "./database/database.ts"
import { nothing, raw, type Statements, sql } from "./database/sql.ts"

const limits = {
  /** Rows that one statement deletes. */
  purgedMax: 10_000,
  /** Rows are kept so long after nothing is used of the limit: some count the last minute. */
  keptMs: 60_000,
}

/** What the limits of the installation have left, in the database. */
export function createBudgetStore(db: Database): BudgetStore {
  const { dialect } = db
  return {
    settle: (nodeId, asks, mayAdd) =>
      db.write(function* () {
        // In one order on all nodes, so that none waits for another that waits for it.
        const keys = asks.map(({ key }) => key).sort()
        const stored = yield* lockRows(db, keys, mayAdd)
        const isLive = yield* readLiveNodes(asks)
        const changed: object[] = []
        const answers = asks.map((ask) => {
          const row = stored.get(ask.key)
          if (!row) return undefined
          const { budget, answer } = decide(ask, row, nodeId, isLive)
          const detail = budget.holders ?? budget.recent
          const holders = detail ? toOwnJson(detail) : null
          changed.push({ budget_key: ask.key, new_full_at: budget.fullAt, new_holders: holders })
          return answer
        })
        const columns = { budget_key: "text", new_full_at: "time", new_holders: "text" } as const
        if (changed.length > 0)
          yield sql`update budgets set full_at = new_full_at, holders = new_holders
            from ${dialect.tableOf(changed, columns)} where key = budget_key`
        const added = stored.values().filter(({ full_at }) => Number(full_at) === 0)
        return { answers, added: added.toArray().length }
      }),
    async readRates(keys) {
      const asked = dialect.tableOf(
        keys.map((key) => ({ asked_key: key })),
        { asked_key: "text" },
      )
      const found = await db.read<Omit<BudgetRow, "full_at">>(
        sql`select key, holders, ${dialect.now} as now from budgets
          where key in (select asked_key from ${asked})`,
      )
      return new Map(
        found.flatMap(({ key, holders, now }) =>
          holders === null ? [] : [[key, sumCounts(parseOwnJson(holders), Number(now))]],
        ),
      )
    },
    async readSlots(nodeId, key) {
      const found = await db.read<{ holders: string | null; id: string }>(
        sql`select holders, id from budgets, nodes
          where key = ${key} and is_gone = 0 and id <> ${nodeId}`,
      )
      const held = found.map(({ holders, id }) =>
        holders === null ? 0 : Number(parseOwnJson(holders)[id]?.[0] ?? 0),
      )
      return held.reduce((sum, slots) => sum + slots, 0)
    },
    async purge(countMax) {
      for (;;) {
        const deleted = await db.writeOne<object>(sql`
          delete from budgets where key in (
            select key from budgets where full_at < ${dialect.now} - ${limits.keptMs} limit ${limits.purgedMax} ${dialect.skipLocked})
          returning key`)
        if (deleted.length < limits.purgedMax) break
      }
      const [row] = await db.read<{ count: number | string }>(
        sql`select count(*) as count from (select 1 from budgets limit ${countMax}) counted`,
      )
      return Number(row?.count)
    },
  }
}

interface BudgetRow {
  readonly key: string
  /** 0 for a row that this transaction has added. */
  readonly full_at: number | string
  /** The slots of each node; of a rate what is counted of the last minute, if it is. */
  readonly holders: string | null
  readonly now: number | string
}

/** Locks the rows until the transaction ends. They are added where they do not exist, if that may be. */
function* lockRows(
  { dialect }: Database,
  keys: readonly string[],
  mayAdd: boolean,
): Statements<ReadonlyMap<string, BudgetRow>> {
  const rowsOf = keys.map((key) => ({ asked_key: key }))
  const asked = dialect.tableOf(rowsOf, { asked_key: "text" })
  const found = yield* rows<BudgetRow>(
    mayAdd
      ? sql`insert into budgets (key, full_at) select asked_key, 0 from ${asked} where true
          on conflict (key) do update set full_at = budgets.full_at
          returning key, full_at, holders, ${dialect.now} as now`
      : sql`select key, full_at, holders, ${dialect.now} as now from budgets
          where key in (select asked_key from ${asked}) order by key ${dialect.choose({ sqlite: nothing, postgres: raw('collate "C"') })} ${dialect.forUpdate}`,
  )
  return new Map(found.map((row) => [row.key, row]))
}

/** Nodes that are gone hold no slots. */
function* readLiveNodes(asks: readonly BudgetAsk[]): Statements<(nodeId: string) => boolean> {
  if (!asks.some(isSlotAsk)) return () => true
  const live = yield* rows<{ id: string }>(sql`select id from nodes where is_gone = 0`)
  const ids = new Set(live.map(({ id }) => id))
  return (nodeId) => ids.has(nodeId)
}

function decide(
  ask: BudgetAsk,
  row: BudgetRow,
  nodeId: string,
  isLive: (nodeId: string) => boolean,
): { readonly budget: Budget; readonly answer: BudgetAnswer } {
  const now = Number(row.now)
  const fullAt = Number(row.full_at)
  if (!isSlotAsk(ask)) {
    const recent: MinuteCounts | undefined =
      row.holders === null ? undefined : parseOwnJson(row.holders)
    return settleRate(ask, fullAt === 0 ? undefined : fullAt, now, recent)
  }
  const holders: Record<string, SlotHolder> = row.holders === null ? {} : parseOwnJson(row.holders)
  return settleSlots(ask, nodeId, holders, isLive, now)
}
