import { type Database, nothing, raw, rows, type Statements, sql } from "@hamlet/database"
import {
  type Budget,
  type BudgetAnswer,
  type BudgetAsk,
  type BudgetStore,
  isSlotAsk,
  type MinuteCounts,
  type SlotHolder,
  type SlotNodes,
  settleRate,
  settleSlots,
  slotsRenewedMs,
  sumCounts,
  toOwnJson,
} from "@hamlet/kit"

const limits = {
  /** Rows that one statement deletes. */
  purgedMax: 10_000,
  /** By then every node has reported the slots that it holds to a table that was empty. */
  reportedMs: slotsRenewedMs + 5_000,
  /** Rows with `holders` are kept so long after nothing is used: they may count the last minute. */
  keptMs: 60_000,
}

/**
 * A row that is never purged: it is missing after a crash of the database, which empties the table. Its
 * `full_at` tells when it was added.
 */
const crashMarker = { key: "table", lastsMs: 1e13 }

/** What the limits of the installation have left, in the database. */
export function createBudgetStore(db: Database): BudgetStore {
  const { dialect } = db
  return {
    settle: (nodeId, asks, mayAdd) =>
      db.write(function* () {
        // In one order on all nodes, so that none waits for another that waits for it.
        const keys = asks.map(({ key }) => key).sort()
        const stored = yield* lockRows(db, keys, mayAdd)
        const nodes = yield* readNodes(db, asks)
        const changed: object[] = []
        const answers = asks.map((ask) => {
          const row = stored.get(ask.key)
          if (!row) return undefined
          const { budget, answer } = decide(ask, row, nodeId, nodes)
          const detail = budget.holders ?? budget.recent
          const holders = detail ? toOwnJson(detail) : null
          changed.push({ budget_key: ask.key, new_full_at: budget.fullAt, new_holders: holders })
          return answer
        })
        const columns = { budget_key: "text", new_full_at: "time", new_holders: "text" } as const
        if (changed.length > 0)
          yield sql`update budgets set full_at = new_full_at, holders = new_holders
            from ${dialect.tableOf(changed, columns)} where key = budget_key`
        const added = stored.values().filter(({ fullAt }) => fullAt === 0)
        return { answers, added: added.toArray().length }
      }),
    async readRates(keys) {
      const asked = dialect.tableOf(
        keys.map((key) => ({ asked_key: key })),
        { asked_key: "text" },
      )
      const found = await db.read<Omit<BudgetRow, "fullAt">>`
        select key, holders as holders_json, ${dialect.now} as now from budgets
          where key in (select asked_key from ${asked})`
      return new Map(
        found.flatMap(({ key, holders, now }) =>
          holders === null ? [] : [[key, sumCounts(holders as MinuteCounts, now)]],
        ),
      )
    },
    async readSlots(nodeId, key) {
      const found = await db.read<{ holders: SlotHolders | null; id: string }>`
        select holders as holders_json, id from budgets, nodes
          where key = ${key} and is_gone = 0 and id <> ${nodeId}`
      const held = found.map(({ holders, id }) => Number(holders?.[id]?.[0] ?? 0))
      return held.reduce((sum, slots) => sum + slots, 0)
    },
    async purge(countMax) {
      await db.writeOne(addMarker(db))
      for (;;) {
        const deleted = await db.writeOne<object>`
          delete from budgets where key in (
            select key from budgets
            where full_at < ${dialect.now} - case when holders is null then 0 else ${limits.keptMs} end
            limit ${limits.purgedMax} ${dialect.skipLocked})
          returning key`
        if (deleted.length < limits.purgedMax) break
      }
      const row = await db.first<{ count: number }>`
        select count(*) as count from (select 1 from budgets limit ${countMax}) counted`
      return row?.count ?? 0
    },
  }
}

interface BudgetRow {
  readonly key: string
  /** 0 for a row that this transaction has added. */
  readonly fullAt: number
  /** The slots of each node; of a rate what is counted of the last minute, if it is. */
  readonly holders: SlotHolders | MinuteCounts | null
  readonly now: number
}

type SlotHolders = Readonly<Record<string, SlotHolder>>

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
          returning key, full_at, holders as holders_json, ${dialect.now} as now`
      : sql`select key, full_at, holders as holders_json, ${dialect.now} as now from budgets
          where key in (select asked_key from ${asked}) order by key ${dialect.choose({ sqlite: nothing, postgres: raw('collate "C"') })} ${dialect.forUpdate}`,
  )
  return new Map(found.map((row) => [row.key, row]))
}

const addMarker = ({ dialect }: Database) => sql`
  insert into budgets (key, full_at) values (${crashMarker.key}, ${dialect.now} + ${crashMarker.lastsMs})
  on conflict (key) do nothing`

/** Nodes that are gone hold no slots. */
function* readNodes(db: Database, asks: readonly BudgetAsk[]): Statements<SlotNodes> {
  if (!asks.some(isSlotAsk)) return { isLive: () => true, unknownCount: 1 }
  const live = yield* rows<{ id: string; ageMs: number | null }>`
    select id, (select ${db.dialect.now} + ${crashMarker.lastsMs} - full_at from budgets where key = ${crashMarker.key}) as age_ms
    from nodes where is_gone = 0`
  const ageMs = live[0]?.ageMs ?? null
  if (ageMs === null) yield addMarker(db)
  const ids = new Set(live.map(({ id }) => id))
  return {
    isLive: (nodeId) => ids.has(nodeId),
    unknownCount: (ageMs ?? 0) >= limits.reportedMs ? 1 : Math.max(1, ids.size),
  }
}

function decide(
  ask: BudgetAsk,
  row: BudgetRow,
  nodeId: string,
  nodes: SlotNodes,
): { readonly budget: Budget; readonly answer: BudgetAnswer } {
  const { now, fullAt, holders } = row
  if (isSlotAsk(ask)) return settleSlots(ask, nodeId, (holders ?? {}) as SlotHolders, nodes, now)
  const recent = (holders ?? undefined) as MinuteCounts | undefined
  return settleRate(ask, fullAt === 0 ? undefined : fullAt, now, recent)
}
