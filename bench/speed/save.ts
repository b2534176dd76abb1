import { join } from "node:path"
import type { Benchmark, Context } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { toComparison } from "../harness/comparison.ts"
import {
  type DatabaseName,
  findPostgresPid,
  onEachDatabase,
  type Seeded,
  startSeeded,
} from "../harness/databases.ts"
import { runLoad } from "../harness/load.ts"
import { cpuMsOf, readCpuSeconds } from "../harness/process-tree.ts"
import type { Cell } from "../harness/report.ts"
import { alternate, median } from "../harness/stats.ts"
import { tokenText } from "../seed/world.ts"

const limits = chooseLimits(
  { vals: 1_000, clients: 32, seconds: 4, rounds: 7 },
  { clients: 4, seconds: 0.05, rounds: 1 },
)

/**
 * What a save costs, in CPU time and in durable commits of one row: a save writes several rows, but on
 * SQLite saves that arrive together share one wait for the disk.
 */
export const save: Benchmark = {
  name: "save",
  isQuick: true,
  async run(context) {
    const rows = await onEachDatabase(
      { postgresUrl: context.postgresUrl },
      async (database, seed) => measure(context, database, await seed(limits.vals)),
    )
    const title = `save: \`POST /v1/vals/{val_id}/versions\` by ${limits.clients} clients, always new code, against bare durable commits of one row`
    const rates = ["saves, 1/s", "bare commits, 1/s", "ratio", "smallest – largest"]
    const cpu = ["CPU of a save, µs: server", "database server"]
    return [{ title, columns: ["database", ...rates, ...cpu], rows }]
  },
}

async function measure(context: Context, database: DatabaseName, seeded: Seeded): Promise<Cell[]> {
  const server = await startSeeded(seeded)
  const { valIds, users } = seeded.world
  const paths = Array.from(
    { length: limits.clients },
    (_, slot) => `/v1/vals/${valIds[slot * users]}/versions`,
  )
  const databasePid =
    seeded.databaseUrl === undefined ? undefined : await findPostgresPid(seeded.databaseUrl)
  const readCpu = () => ({
    server: readCpuSeconds(server.pid) * 1e6,
    database: databasePid === undefined ? 0 : cpuMsOf(databasePid) * 1e3,
  })
  const used: { readonly server: number; readonly database: number }[] = []
  const saves = async () => {
    const before = readCpu()
    const perSecond = await runLoad({
      url: server.url,
      token: tokenText(0),
      connections: limits.clients,
      seconds: limits.seconds,
      paths,
      isSave: true,
    })
    const after = readCpu()
    const count = perSecond * limits.seconds
    used.push({
      server: (after.server - before.server) / count,
      database: (after.database - before.database) / count,
    })
    return perSecond
  }
  const barePlace =
    database === "SQLite" ? join(seeded.dataDir, "bare.db") : (context.postgresUrl ?? "")
  const commits = () => runBareCommits(barePlace)
  try {
    await alternate(1, saves, commits)
    used.length = 0
    const rates = await alternate(limits.rounds, saves, commits)
    return [
      ...toComparison(context, "save", [database], rates),
      median(used.map((cpu) => cpu.server)).toFixed(0),
      databasePid === undefined ? "" : median(used.map((cpu) => cpu.database)).toFixed(0),
    ]
  } finally {
    await server.stop()
    await seeded.drop()
  }
}

async function runBareCommits(place: string): Promise<number> {
  const program = join(import.meta.dir, "..", "bare-commits.ts")
  const child = Bun.spawn([process.execPath, program, place, String(limits.seconds)], {
    stdout: "pipe",
    stderr: "inherit",
  })
  const perSecond = Number(await new Response(child.stdout).text())
  if (!(perSecond > 0)) throw new Error("Cannot measure bare commits: the program failed")
  return perSecond
}
