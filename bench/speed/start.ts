import { join } from "node:path"
import type { Benchmark } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { type Seeded, seedPostgres, seedSqlite } from "../harness/databases.ts"
import { type Program, startBare, startServer } from "../harness/program.ts"
import type { Cell } from "../harness/report.ts"
import { createScratchFolder } from "../harness/scratch.ts"
import { alternate, median, ratioOf } from "../harness/stats.ts"

const limits = chooseLimits({ vals: 1_000, rounds: 9 }, { rounds: 1 })

/**
 * The time from the start of the process to the line with its address.
 */
export const start: Benchmark = {
  name: "start",
  isQuick: true,
  async run({ postgresUrl }) {
    const sqlite = await seedSqlite({ keepDir: undefined }, limits.vals)
    const postgres =
      postgresUrl === undefined
        ? undefined
        : await seedPostgres({ keepDir: undefined }, postgresUrl, limits.vals)
    const rows = [
      await measure("SQLite, a new database", () => ({ dataDir: createScratchFolder() }), sqlite),
      await measure("SQLite", () => sqlite, sqlite),
      ...(postgres === undefined ? [] : [await measure("PostgreSQL", () => postgres, sqlite)]),
    ]
    for (const seeded of [sqlite, postgres]) await seeded?.drop()
    const title =
      "start: from the start of the process to its first line, against a bare `Bun.serve` with SQLite"
    return [
      {
        title,
        columns: ["database", "server, ms", "bare, ms", "ratio", "smallest – largest"],
        rows,
      },
    ]
  },
}

async function measure(
  name: string,
  data: () => Pick<Seeded, "dataDir" | "databaseUrl">,
  bare: Seeded,
): Promise<Cell[]> {
  const times = await alternate(
    limits.rounds,
    async () => timeOf(await startServer(data())),
    async () =>
      timeOf(
        await startBare("bare-sqlite-read.ts", { BARE_DATABASE: join(bare.dataDir, "hamlet.db") }),
      ),
  )
  const { ratio, spread } = ratioOf(times)
  return [name, median(times.a).toFixed(0), median(times.b).toFixed(0), ratio.toFixed(1), spread]
}

async function timeOf(program: Program): Promise<number> {
  await program.stop()
  return program.startMs
}
