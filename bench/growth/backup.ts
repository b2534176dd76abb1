import { statSync } from "node:fs"
import { join } from "node:path"
import { createBackupChecker } from "@hamlet/contract/backup"
import type { Benchmark } from "../harness/benchmark.ts"
import { onEachDatabase, type Seeded, startSeeded, withConnection } from "../harness/databases.ts"
import { atLeast, type Cell } from "../harness/report.ts"
import { percentile } from "../harness/stats.ts"
import { tokenText } from "../seed/world.ts"

const limits = { rateMin: 50, askMs: 20 }
const mega = 1_000_000

/** How fast a backup reads a database, and how it affects other requests. */
export const backup: Benchmark = {
  name: "backup",
  isQuick: false,
  async run(context) {
    const { vals } = context
    const rows = await onEachDatabase(context, async (database, seed) =>
      measure(database, await seed(vals)),
    )
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
  const server = await startSeeded(seeded)
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
  return withConnection(databaseUrl, async (connection) => {
    const [row] = await connection`select pg_database_size(current_database()) as size`
    return Number(row.size)
  })
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
      return { p50: percentile(taken, 50), p99: percentile(taken, 99) }
    },
  }
}
