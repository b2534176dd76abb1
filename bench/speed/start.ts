import { join } from "node:path"
import type { Benchmark, Context } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { toComparison } from "../harness/comparison.ts"
import { onEachDatabase, type Seeded } from "../harness/databases.ts"
import { type Program, startBare, startServer } from "../harness/program.ts"
import type { Cell } from "../harness/report.ts"
import { createScratchFolder } from "../harness/scratch.ts"
import { alternate } from "../harness/stats.ts"

const limits = chooseLimits({ vals: 1_000, rounds: 9 }, { rounds: 1 })

/**
 * The time from the start of the process to the line with its address.
 */
export const start: Benchmark = {
  name: "start",
  isQuick: true,
  async run(context) {
    const all: Seeded[] = []
    const rows = await onEachDatabase(
      { postgresUrl: context.postgresUrl },
      async (database, seed) => {
        const seeded = await seed(limits.vals)
        all.push(seeded)
        return measure(context, database, () => seeded, all[0] ?? seeded)
      },
    )
    // SQLite is always the first, and the bare program uses it.
    const [sqlite] = all
    const onNew = () => ({ dataDir: createScratchFolder() })
    if (sqlite) rows.unshift(await measure(context, "SQLite, a new database", onNew, sqlite))
    for (const seeded of all) await seeded.drop()
    const title =
      "start: from the start of the process to its first line, against a bare `Bun.serve` with SQLite"
    const columns = ["database", "server, ms", "bare, ms", "ratio", "smallest – largest"]
    return [{ title, columns, rows }]
  },
}

async function measure(
  context: Context,
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
  return toComparison(context, "start", [name], times)
}

async function timeOf(program: Program): Promise<number> {
  await program.stop()
  return program.startMs
}
