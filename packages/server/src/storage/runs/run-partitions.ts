import type { Database } from "../database/database.ts"

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
 * Drops the partitions whose runs have all expired, and adds those that are needed next. The clock
 * is that of the database: a node whose clock is wrong drops nothing early.
 */
export async function keepPartitions(db: Database, keptMs: number): Promise<void> {
  const { runPartitions } = db.dialect
  const { partitions, at } = await listPartitions(db)
  if (runPartitions === undefined || partitions.length === 0) return
  for (const { name, to } of partitions)
    if (to !== undefined && to <= at - keptMs) await db.write(() => runPartitions.drop(name))
  const widthMs = Math.ceil(keptMs / partitionsPerRetention / dayMs) * dayMs
  const end = Math.max(0, ...partitions.map(({ to }) => to ?? 0))
  // After a long time without a server, the days between belong to no partition.
  let from = Math.max(end, Math.floor((at - widthMs) / dayMs) * dayMs + dayMs)
  for (; from < at + widthMs; from += widthMs) {
    const [name, first, next] = [toName(from), firstIdOf(from), firstIdOf(from + widthMs)]
    await db.write(() => runPartitions.add(name, first, next))
  }
}

async function listPartitions(db: Database): Promise<{ partitions: Partition[]; at: number }> {
  const { runPartitions } = db.dialect
  const rows = runPartitions
    ? await db.read<{ name: string; bound: string; at: number | string }>(runPartitions.list)
    : []
  return { partitions: rows.map(toPartition), at: Number(rows[0]?.at ?? 0) }
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
