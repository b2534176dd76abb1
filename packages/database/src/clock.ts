import type { Database } from "./database.ts"

/** The time of the database in milliseconds. The clocks of nodes may differ. */
export async function readClock(db: Pick<Database, "dialect" | "read">): Promise<number> {
  const [row] = await db.read<{ now: number }>`select ${db.dialect.now} as now`
  return Number(row?.now)
}
