import { type Database, list } from "@hamlet/database"
import { mapInSlices, parseOwnJson } from "@hamlet/kit"
import type { LogLine } from "../../domain/runs/runs.ts"

/** The log lines of some runs; those without logs are left out. Long logs are parsed in slices. */
export async function readLogs(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly LogLine[]>> {
  if (ids.length === 0) return new Map()
  const found = await db.read<{ id: string; text: string }>`
    select id, logs as text from runs where id in (${list(ids)}) and logs is not null`
  const logs = await mapInSlices(found, ({ text }) => parseOwnJson(text) as readonly LogLine[])
  return new Map(found.map(({ id }, index) => [id, logs[index] ?? []]))
}
