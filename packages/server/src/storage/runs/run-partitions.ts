import type { Database, Statement } from "@hamlet/database"
import { findPartitionTables } from "./partition-tables.ts"

const dayMs = 86_400_000
/**
 * A list of runs asks each partition, and one that asks 30 takes twice as long as one that asks 6.
 * So a partition takes a quarter of the time for which runs are kept.
 */
const partitionsPerRetention = 4

interface Partition {
  readonly name: string
  /** Undefined for the first one, and for the one of all other ids. */
  readonly from: number | undefined
  /** Undefined for the one of all other ids. */
  readonly to: number | undefined
}

/** The tables whose expired runs are deleted one by one: they are never dropped, or only late. */
export async function listPurgedTables(db: Database): Promise<readonly string[]> {
  const { partitions } = await listPartitions(db)
  return partitions.length === 0
    ? ["runs"]
    : partitions.filter(({ from }) => from === undefined).map(({ name }) => `runs_${name}`)
}

/**
 * Drops the partitions whose runs have all expired. The clock is that of the database: a node whose
 * clock is wrong drops nothing early.
 */
export async function dropPartitions(db: Database, keptMs: number): Promise<void> {
  const tables = findPartitionTables(db.dialect)
  const { partitions, at } = await listPartitions(db)
  for (const { name, to } of partitions)
    if (tables && to !== undefined && to <= at - keptMs) await db.write(() => tables.drop(name))
}

/** Adds the partitions that are needed next, by the clock of the database. */
export async function addPartitions(db: Database, keptMs: number): Promise<void> {
  const tables = findPartitionTables(db.dialect)
  const { partitions, at } = await listPartitions(db)
  if (tables === undefined || partitions.length === 0) return
  const widthMs = Math.ceil(keptMs / partitionsPerRetention / dayMs) * dayMs
  const end = Math.max(0, ...partitions.map(({ to }) => to ?? 0))
  // After a long time without a server, the days between belong to no partition.
  let from = Math.max(end, Math.floor((at - widthMs) / dayMs) * dayMs + dayMs)
  while (from < at + widthMs) {
    const [first, next] = [firstIdOf(from), firstIdOf(from + widthMs)]
    const add = { name: toName(from), from: first, to: next, isReserved: false }
    let outcome = await db.write(() => tables.add(add))
    if (outcome === "crowded") {
      const reserved = await db.write(() => tables.reserve(first, next))
      if (reserved === "busy") return
      if (reserved !== "reserved") {
        // Too many to move. Those days stay in the rest, whose runs are deleted one by one.
        from = Math.floor(timeOf(reserved.newest) / dayMs) * dayMs + dayMs
        continue
      }
      for (const statement of tables.validations) await writePatiently(db, statement)
      outcome = await db.write(() => tables.add({ ...add, isReserved: true }))
    }
    // Another node adds it. A later one before it would leave a gap if that node fails.
    if (outcome === "busy") return
    from += widthMs
  }
}

async function writePatiently(db: Database, statement: Statement): Promise<void> {
  await db.write(
    function* () {
      yield statement
    },
    { isPatient: true },
  )
}

async function listPartitions(db: Database): Promise<{ partitions: Partition[]; at: number }> {
  const tables = findPartitionTables(db.dialect)
  const rows = tables ? await db.read<{ name: string; bound: string; at: number }>(tables.list) : []
  return { partitions: rows.map(toPartition), at: rows[0]?.at ?? 0 }
}

/** The bound is as in `FOR VALUES FROM ('…') TO ('…')`, with MINVALUE in the first; or `DEFAULT`. */
function toPartition({ name, bound }: { name: string; bound: string }): Partition {
  const ids = bound.match(/'[0-9a-f-]+'|MINVALUE/g) ?? []
  const [from, to] = ids.map((id) => (id === "MINVALUE" ? undefined : timeOf(id.slice(1, -1))))
  return { name, from, to }
}

const toName = (at: number) => new Date(at).toISOString().slice(0, 10).split("-").join("")

const timeOf = (id: string) => Number.parseInt(`${id.slice(0, 8)}${id.slice(9, 13)}`, 16)

/**
 * The smallest id of that time: no id created then or later sorts before it, because the first 48
 * bits of an id are its time.
 */
export function firstIdOf(at: number): string {
  const time = Math.max(0, Math.floor(at)).toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}
