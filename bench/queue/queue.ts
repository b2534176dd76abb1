import { join } from "node:path"
import { SQL } from "bun"
import type { Benchmark, Context } from "../harness/benchmark.ts"
import { atLeast } from "../harness/report.ts"
import { median, takeTurns } from "../harness/stats.ts"
import { describeQueues, ensurePeers, findNewNode } from "../peers/install.ts"

const limits = { jobs: 20_000, rounds: 5, ratioMin: 1 }

const contenders = ["ours", "graphile", "boss"] as const
type Contender = (typeof contenders)[number]

/**
 * How many runs per second one node takes from the queue and records as ended, against job queues on
 * the same PostgreSQL, each with the settings that make it fastest. No code runs.
 */
export const queue: Benchmark = {
  name: "queue",
  isQuick: false,
  async run(context) {
    const { postgresUrl } = context
    if (postgresUrl === undefined) return []
    await ensurePeers(context.report)
    const names = contenders.map((name) => [name, `hamlet_bench_queue_${name}`] as const)
    await onServer(postgresUrl, async (server) => {
      for (const [, database] of names) await server.unsafe(`create database ${database}`)
    })
    try {
      return [await measure(context, postgresUrl)]
    } finally {
      await onServer(postgresUrl, async (server) => {
        for (const [, database] of names)
          await server.unsafe(`drop database ${database} with (force)`)
      })
    }
  },
}

async function measure(context: Context, postgresUrl: string) {
  const of = (name: Contender) => () => drain(name, postgresUrl)
  const measures = { ours: of("ours"), graphile: of("graphile"), boss: of("boss") }
  // The first round migrates the databases.
  await takeTurns(1, measures)
  const rates = await takeTurns(limits.rounds, measures)
  const better = rates.graphile.map((rate, round) => Math.max(rate, rates.boss[round] ?? 0))
  const ratios = rates.ours.map((rate, round) => rate / (better[round] ?? Number.NaN))
  const ratio = median(ratios)
  context.report(`queue: ${ratio.toFixed(2)} of the better one`)
  const { graphile, boss } = describeQueues()
  const show = (values: readonly number[]) => median(values).toFixed(0)
  const spread = `${Math.min(...ratios).toFixed(2)} – ${Math.max(...ratios).toFixed(2)}`
  return {
    title: `queue: ${limits.jobs} runs without code, from claim to recorded outcome, by one node`,
    columns: ["queue", "1/s", "ratio to the better", "smallest – largest", "bar"],
    rows: [
      ["Hamlet", show(rates.ours), ratio.toFixed(2), spread, atLeast(ratio, limits.ratioMin)],
      [`${graphile}: 24 at once, 500 fetched at a time`, show(rates.graphile), "", "", ""],
      [`${boss}: 4 loops of 500`, show(rates.boss), "", "", ""],
    ],
  }
}

const commands: Readonly<Record<Contender, () => readonly string[]>> = {
  ours: () => [process.execPath, join(import.meta.dir, "..", "drain-queue.ts")],
  graphile: () => [findNewNode(), join(import.meta.dir, "..", "peers", "graphile-worker.mjs")],
  boss: () => [findNewNode(), join(import.meta.dir, "..", "peers", "pg-boss.mjs")],
}

async function drain(name: Contender, postgresUrl: string): Promise<number> {
  const url = new URL(postgresUrl)
  url.pathname = `/hamlet_bench_queue_${name}`
  const child = Bun.spawn([...commands[name](), url.href, String(limits.jobs)], {
    stdout: "pipe",
    stderr: "inherit",
  })
  const perSecond = Number(await new Response(child.stdout).text())
  if (!(perSecond > 0)) throw new Error(`Cannot measure ${name}: the program failed`)
  return perSecond
}

async function onServer(url: string, work: (server: SQL) => Promise<unknown>): Promise<void> {
  const server = new SQL(url, { adapter: "postgres", max: 1 })
  try {
    await work(server)
  } finally {
    await server.close()
  }
}
