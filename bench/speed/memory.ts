import type { Benchmark, Context } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { onEachDatabase, type Seeded, startSeeded } from "../harness/databases.ts"
import { runLoad } from "../harness/load.ts"
import { residentMbOf } from "../harness/process-tree.ts"
import type { Program } from "../harness/program.ts"
import { atMost, type Cell } from "../harness/report.ts"
import { tokenText } from "../seed/world.ts"

const limits = chooseLimits(
  {
    vals: 1_000,
    connections: 32,
    loadSeconds: 10,
    restMs: 5_000,
    idleMs: 20_000,
    startMbMax: 80,
  },
  { connections: 2, loadSeconds: 0.05, restMs: 50, idleMs: 50 },
)

/** The memory of an idle server. */
export const memory: Benchmark = {
  name: "memory",
  isQuick: true,
  async run(context) {
    const rows = await onEachDatabase(
      { postgresUrl: context.postgresUrl },
      async (database, seed) => measure(context, database, await seed(limits.vals)),
    )
    const title = `memory: resident, ${limits.restMs / 1_000} s after the start, and ${limits.idleMs / 1_000} s after a load of reads and saves`
    return [{ title, columns: ["database", "after the start", "bar", "after a load"], rows }]
  },
}

async function measure(context: Context, database: string, seeded: Seeded): Promise<Cell[]> {
  const server = await startSeeded(seeded)
  try {
    await Bun.sleep(limits.restMs)
    const started = residentMbOf(server.pid)
    await putUnderLoad(server, seeded)
    await Bun.sleep(limits.idleMs)
    const idle = residentMbOf(server.pid)
    context.report(
      `memory, ${database}: ${started.toFixed(0)} MB, after a load ${idle.toFixed(0)} MB`,
    )
    return [
      database,
      `${started.toFixed(0)} MB`,
      atMost(started, limits.startMbMax, " MB"),
      `${idle.toFixed(0)} MB`,
    ]
  } finally {
    await server.stop()
    await seeded.drop()
  }
}

async function putUnderLoad(server: Program, { world }: Seeded): Promise<void> {
  const load = {
    url: server.url,
    token: tokenText(0),
    connections: limits.connections,
    seconds: limits.loadSeconds,
  }
  await runLoad({ ...load, paths: [`/v1/vals/${world.valIds[0]}`] })
  await runLoad({ ...load, paths: ["/v1/vals"] })
  const own = Array.from(
    { length: limits.connections },
    (_, slot) => world.valIds[slot * world.users],
  )
  await runLoad({ ...load, paths: own.map((id) => `/v1/vals/${id}/versions`), isSave: true })
}
