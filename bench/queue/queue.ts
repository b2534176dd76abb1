import { join } from "node:path"
import type { Benchmark, Context } from "../harness/benchmark.ts"
import { chooseLimits, isBrief } from "../harness/brief.ts"
import { withPostgresDatabases } from "../harness/databases.ts"
import { atLeast, type Cell, type Table } from "../harness/report.ts"
import { createScratchFolder } from "../harness/scratch.ts"
import { median, percentile, ratioOf, takeTurns } from "../harness/stats.ts"
import { describeQueues, ensurePeers, findNewNode } from "../peers/install.ts"

const full = {
  /** Jobs of a round: so many that the programs are compiled for most of them. */
  jobs: 50_000,
  rounds: 5,
  ratioMin: 0.8,
  /** Runs that a node has at once: the default, and as many as the four loops of pg-boss have. */
  atOnce: { byDefault: 256, wide: 2_000 },
  crowd: { waiting: 100_000, rounds: 200 },
}
const limits = chooseLimits(full, { jobs: 100, crowd: { waiting: 100, rounds: 2 } })

const contenders = ["ours", "wide", "graphile", "boss", "sqlite"] as const
type Contender = (typeof contenders)[number]

/**
 * How many runs per second one node takes from the queue and records as ended, against job queues on
 * the same PostgreSQL, each with the settings that make it fastest; and how long a run of one account
 * waits while another has many. No code runs.
 */
export const queue: Benchmark = {
  name: "queue",
  isQuick: false,
  async run(context) {
    const { postgresUrl } = context
    // The other queues are not installed for a brief run.
    if (isBrief) await drain("sqlite", join(createScratchFolder(), "queue.db"))
    if (isBrief) return [await measureCrowd(context, undefined)]
    if (postgresUrl === undefined) return []
    await ensurePeers(context.report)
    return [await measureRates(context, postgresUrl), await measureCrowd(context, postgresUrl)]
  },
}

async function measureRates(context: Context, postgresUrl: string): Promise<Table> {
  // Each has a database of its own, in which the jobs of all rounds stay.
  const onServer = ["ours", "wide", "graphile", "boss"] as const
  const rates = await withPostgresDatabases(postgresUrl, onServer, async (urls) => {
    const places = { ...urls, sqlite: join(createScratchFolder(), "queue.db") }
    const of = (name: Contender) => () => drain(name, places[name])
    const measures = Object.fromEntries(contenders.map((name) => [name, of(name)])) as Record<
      Contender,
      () => Promise<number>
    >
    // The first round migrates the databases.
    await takeTurns(1, measures)
    return takeTurns(limits.rounds, measures)
  })
  const better = rates.graphile.map((rate, round) => Math.max(rate, rates.boss[round] ?? 0))
  const show = (values: readonly number[]) => median(values).toFixed(0)
  const toRow = (label: string, values: readonly number[]): Cell[] => {
    const { ratio, spread } = ratioOf({ a: values, b: better })
    context.report(`queue, ${label}: ${show(values)}/s, ${ratio.toFixed(2)} of the better one`)
    return [label, show(values), ratio.toFixed(2), spread, atLeast(ratio, limits.ratioMin)]
  }
  const { graphile, boss } = describeQueues()
  const { byDefault, wide } = limits.atOnce
  return {
    title: `queue: ${limits.jobs} runs without code, from claim to recorded outcome, by one node`,
    columns: ["queue", "1/s", "ratio to the better", "smallest – largest", "bar"],
    rows: [
      toRow(`Hamlet, PostgreSQL, ${byDefault} at once (default)`, rates.ours),
      toRow(`Hamlet, PostgreSQL, ${wide} at once`, rates.wide),
      [`${graphile}: 24 at once, 500 fetched at a time`, show(rates.graphile), "", "", ""],
      [`${boss}: 4 loops of 500`, show(rates.boss), "", "", ""],
      [`Hamlet, SQLite, ${byDefault} at once (default)`, show(rates.sqlite), "", "", ""],
    ],
  }
}

/** The program of a contender and its arguments; the database comes behind the file. */
const commands: Readonly<Record<Contender, () => readonly [string, string, ...string[]]>> = {
  ours: () => [process.execPath, "drain-queue.ts", String(limits.atOnce.byDefault)],
  wide: () => [process.execPath, "drain-queue.ts", String(limits.atOnce.wide)],
  sqlite: () => [process.execPath, "drain-queue.ts", String(limits.atOnce.byDefault)],
  graphile: () => [findNewNode(), "peers/graphile-worker.mjs"],
  boss: () => [findNewNode(), "peers/pg-boss.mjs"],
}

async function drain(name: Contender, place: string): Promise<number> {
  const [program, file, ...rest] = commands[name]()
  const perSecond = Number(await print([program, file, place, String(limits.jobs), ...rest]))
  if (!(perSecond > 0)) throw new Error(`Cannot measure ${name}: the program failed`)
  return perSecond
}

/** How long single runs of one account wait, beside nothing and beside many of another account. */
async function measureCrowd(context: Context, postgresUrl: string | undefined): Promise<Table> {
  const rows: Cell[][] = []
  const urls = [...(postgresUrl === undefined ? [] : [postgresUrl]), undefined]
  for (const url of urls)
    for (const waiting of [0, limits.crowd.waiting]) {
      const database = url === undefined ? "SQLite" : "PostgreSQL"
      const delays = await measureDelays(url, waiting)
      const [p50, p99] = [percentile(delays, 50).toFixed(1), percentile(delays, 99).toFixed(1)]
      context.report(`queue, ${database}, ${waiting} wait: p50 ${p50} ms, p99 ${p99} ms`)
      rows.push([database, String(waiting), p50, p99])
    }
  return {
    title: `queue: from a queued run of one account to its start, ${limits.crowd.rounds} runs one after the other`,
    columns: ["database", "runs of another account that wait", "p50, ms", "p99, ms"],
    rows,
  }
}

async function measureDelays(
  postgresUrl: string | undefined,
  waiting: number,
): Promise<readonly number[]> {
  const measure = async (place: string) =>
    JSON.parse(
      await print([
        process.execPath,
        "crowd-queue.ts",
        place,
        String(waiting),
        String(limits.crowd.rounds),
      ]),
    )
  if (postgresUrl === undefined) return measure(join(createScratchFolder(), "crowd.db"))
  return withPostgresDatabases(postgresUrl, ["crowd"], ({ crowd }) => measure(crowd))
}

/** What a program prints. Its file is named from the folder of the benchmarks. */
async function print([program = "", file = "", ...rest]: readonly string[]): Promise<string> {
  const child = Bun.spawn([program, join(import.meta.dir, "..", file), ...rest], {
    stdout: "pipe",
    stderr: "inherit",
  })
  return new Response(child.stdout).text()
}
