import { readFileSync } from "node:fs"
import { join } from "node:path"
import { SQL } from "bun"
import type { Benchmark, Context } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { type Seeded, seedPostgres, seedSqlite } from "../harness/databases.ts"
import { runLoad } from "../harness/load.ts"
import { cpuMsOf, readCpuSeconds } from "../harness/process-tree.ts"
import { startServer } from "../harness/program.ts"
import { atLeast, type Cell } from "../harness/report.ts"
import { alternate, median, ratioOf } from "../harness/stats.ts"
import { tokenText } from "../seed/world.ts"

const limits = chooseLimits(
  { vals: 1_000, clients: 32, seconds: 4, rounds: 7, ratioMin: 0.7 },
  { clients: 4, seconds: 0.05, rounds: 1 },
)

/**
 * How close saves come to the speed of the disk: a save writes several rows, but saves that arrive
 * together share one wait for the disk.
 */
export const save: Benchmark = {
  name: "save",
  isQuick: true,
  async run(context) {
    const sqlite = await seedSqlite({ keepDir: undefined }, limits.vals)
    const rows = [
      await measure(context, "SQLite", sqlite, join(sqlite.dataDir, "bare.db"), (ratio) =>
        atLeast(ratio, limits.ratioMin),
      ),
    ]
    if (context.postgresUrl !== undefined) {
      const postgres = await seedPostgres({ keepDir: undefined }, context.postgresUrl, limits.vals)
      rows.push(await measure(context, "PostgreSQL", postgres, context.postgresUrl, () => ""))
    }
    const title = `save: \`POST /v1/vals/{val_id}/versions\` by ${limits.clients} clients, always new code, against bare durable commits of one row`
    return [
      {
        title,
        columns: [
          "database",
          "saves, 1/s",
          "bare commits, 1/s",
          "ratio",
          "smallest – largest",
          "bar",
          "CPU of a save, µs: server",
          "database server",
        ],
        rows,
      },
    ]
  },
}

async function measure(
  context: Context,
  database: string,
  seeded: Seeded,
  barePlace: string,
  toBar: (ratio: number) => Cell,
): Promise<Cell[]> {
  const server = await startServer(seeded)
  const { valIds, users } = seeded.world
  const paths = Array.from(
    { length: limits.clients },
    (_, slot) => `/v1/vals/${valIds[slot * users]}/versions`,
  )
  const databasePid =
    seeded.databaseUrl === undefined ? undefined : await findServerPid(seeded.databaseUrl)
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
  const commits = () => runBareCommits(barePlace)
  try {
    await alternate(1, saves, commits)
    used.length = 0
    const rates = await alternate(limits.rounds, saves, commits)
    const { ratio, spread } = ratioOf(rates)
    context.report(`save, ${database}: ${ratio.toFixed(2)} (${spread})`)
    return [
      database,
      median(rates.a).toFixed(0),
      median(rates.b).toFixed(0),
      ratio.toFixed(2),
      spread,
      toBar(ratio),
      median(used.map((cpu) => cpu.server)).toFixed(0),
      databasePid === undefined ? "" : median(used.map((cpu) => cpu.database)).toFixed(0),
    ]
  } finally {
    await server.stop()
    await seeded.drop()
  }
}

/** The process that has started all others of the PostgreSQL on this machine. */
async function findServerPid(url: string): Promise<number> {
  const sql = new SQL(url, { adapter: "postgres", max: 1 })
  try {
    const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
    const stat = readFileSync(`/proc/${row?.pid}/stat`, "utf8")
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
  } finally {
    await sql.close()
  }
}

async function runBareCommits(place: string): Promise<number> {
  const child = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, "..", "bare-commits.ts"),
      place,
      String(limits.seconds),
    ],
    {
      stdout: "pipe",
      stderr: "inherit",
    },
  )
  const perSecond = Number(await new Response(child.stdout).text())
  if (!(perSecond > 0)) throw new Error("Cannot measure bare commits: the program failed")
  return perSecond
}
