import { statSync } from "node:fs"
import { join } from "node:path"
import { createBackupChecker } from "@hamlet/contract/backup"
import { SQL } from "bun"
import type { Benchmark } from "../harness/benchmark.ts"
import { type Seeded, seedPostgres, seedSqlite } from "../harness/databases.ts"
import { startServer } from "../harness/program.ts"
import { atLeast, type Cell } from "../harness/report.ts"
import { tokenText } from "../seed/world.ts"

const limits = { rateMin: 50, askMs: 20 }
const mega = 1_000_000

/** How fast a backup reads a database, and how it affects other requests. */
export const backup: Benchmark = {
  name: "backup",
  isQuick: false,
  async run(context) {
    const { postgresUrl, isPostgresOnly, vals } = context
    const rows = isPostgresOnly ? [] : [await measure("SQLite", await seedSqlite(context, vals))]
    if (postgresUrl !== undefined)
      rows.push(await measure("PostgreSQL", await seedPostgres(context, postgresUrl, vals)))
    return [
      {
        title: `backup: one of ${vals.toLocaleString("en")} vals, over HTTP, checked by the client as it arrives`,
        columns: [
          "",
          "database, MB",
          "backup, MB",
          "s",
          "database, MB/s",
          "other requests meanwhile, p50 – p99 ms",
          "bar",
        ],
        rows,
      },
    ]
  },
}

async function measure(name: string, seeded: Seeded): Promise<Cell[]> {
  const server = await startServer(seeded)
  const others = askMeanwhile(server.url)
  try {
    const startedMs = performance.now()
    const bytes = await takeBackup(server.url)
    const seconds = (performance.now() - startedMs) / 1000
    const size = await sizeOf(seeded)
    const rate = size / mega / seconds
    const { p50, p99 } = await others.stop()
    const cells = [size / mega, bytes / mega, seconds, rate].map((value) => value.toFixed(0))
    return [name, ...cells, `${p50.toFixed(1)} – ${p99.toFixed(1)}`, atLeast(rate, limits.rateMin)]
  } finally {
    await others.stop()
    await server.stop()
    await seeded.drop()
  }
}

async function takeBackup(url: string): Promise<number> {
  const response = await fetch(`${url}/v1/backup`, {
    headers: { authorization: `Bearer ${tokenText(0)}` },
  })
  if (response.status !== 200)
    throw new Error(`Cannot measure: ${response.status} ${await response.text()}`)
  const checker = createBackupChecker()
  for await (const piece of response.body ?? []) checker.add(piece)
  return checker.end().bytes
}

async function sizeOf({ dataDir, databaseUrl }: Seeded): Promise<number> {
  if (databaseUrl === undefined) return statSync(join(dataDir, "hamlet.db")).size
  const connection = new SQL(databaseUrl, { adapter: "postgres", max: 1 })
  const [row] = await connection`select pg_database_size(current_database()) as size`
  await connection.close()
  return Number(row.size)
}

/** A client that sends a simple request again and again. */
function askMeanwhile(url: string) {
  const taken: number[] = []
  let isStopped = false
  const asking = (async () => {
    while (!isStopped) {
      const startedMs = performance.now()
      await (await fetch(`${url}/v1/vals?limit=20`)).arrayBuffer()
      taken.push(performance.now() - startedMs)
      await Bun.sleep(limits.askMs)
    }
  })()
  return {
    async stop() {
      isStopped = true
      await asking
      const sorted = taken.toSorted((one, other) => one - other)
      const at = (part: number) =>
        sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
      return { p50: at(0.5), p99: at(0.99) }
    },
  }
}
