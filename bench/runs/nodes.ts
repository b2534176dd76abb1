import type { Benchmark, Context } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { findPostgresPid, withPostgresDatabases } from "../harness/databases.ts"
import { type Load, runLoad } from "../harness/load.ts"
import { cpuMsOf } from "../harness/process-tree.ts"
import { atLeast, type Cell, type Table } from "../harness/report.ts"
import { median, ratioOf } from "../harness/stats.ts"
import { type Hamlet, startOwnHamlet } from "./hamlet.ts"
import { computingCode, helloCode } from "./vals.ts"

const limits = chooseLimits(
  { connections: 8, seconds: 5, rounds: 5, ratioMin: 1.7 },
  { connections: 2, seconds: 0.1, rounds: 1 },
)

/** Both nodes have the same keys. */
const settings = { HAMLET_SECRET_KEY: Buffer.alloc(32, 5).toString("base64") }

/** What one round has measured. */
interface Round {
  readonly rate: number
  /** CPU time for a request, in milliseconds. */
  readonly nodesMs: number
  readonly postgresMs: number
}

/** A second node: what it adds, and what sharing the database costs. Each node has one core. */
export const nodes: Benchmark = {
  name: "nodes",
  isQuick: true,
  run: (context) => withDatabase(context, (place, readCpuMs) => compare(context, place, readCpuMs)),
}

async function compare(
  { postgresUrl }: Context,
  place: Readonly<Record<string, string>>,
  readCpuMs: () => number,
): Promise<readonly Table[]> {
  const shared = { ...settings, ...place }
  const started = [
    await startOwnHamlet(shared, { core: 0 }),
    await startOwnHamlet(shared, { core: 1 }),
  ]
  try {
    const rows: Cell[][] = []
    for (const [name, toLoads] of await prepare(started)) {
      const rounds: Record<"one" | "two", Round[]> = { one: [], two: [] }
      const measureNodes = (count: number) => measure(started, toLoads.slice(0, count), readCpuMs)
      await measureNodes(2)
      for (let round = 0; round < limits.rounds; round++) {
        rounds.one.push(await measureNodes(1))
        rounds.two.push(await measureNodes(2))
      }
      rows.push(toRow(name, rounds.one, rounds.two))
    }
    return [toTable(postgresUrl === undefined ? "a SQLite each" : "one PostgreSQL", rows)]
  } finally {
    for (const hamlet of started) await hamlet.stop()
  }
}

/** Without a PostgreSQL each node has a SQLite, which shows only that the benchmark still runs. */
function withDatabase<T>(
  { postgresUrl }: Context,
  work: (settings: Readonly<Record<string, string>>, readCpuMs: () => number) => Promise<T>,
): Promise<T> {
  if (postgresUrl === undefined) return work({}, () => 0)
  return withPostgresDatabases(postgresUrl, ["nodes"], async ({ nodes }) => {
    const server = await findPostgresPid(nodes)
    return work({ HAMLET_DATABASE_URL: nodes }, () => cpuMsOf(server))
  })
}

type Target = Pick<Load, "url" | "host" | "paths" | "token">

/** What is requested, of each node. */
async function prepare(
  started: readonly Hamlet[],
): Promise<readonly (readonly [string, readonly Target[]])[]> {
  const targets = { compute: [] as Target[], hello: [] as Target[], read: [] as Target[] }
  for (const { program, token, putVal } of started) {
    const { url } = program
    const compute = await putVal("compute", computingCode)
    const hello = await putVal("hello", helloCode)
    targets.compute.push({ url, host: compute.host, paths: ["/"] })
    targets.hello.push({ url, host: hello.host, paths: ["/"] })
    targets.read.push({ url, token, paths: [`/v1/vals/${hello.id}`] })
  }
  return [
    ["a val that computes", targets.compute],
    ["hello world", targets.hello],
    ["GET /v1/vals/{id}", targets.read],
  ]
}

async function measure(
  started: readonly Hamlet[],
  targets: readonly Target[],
  readPostgresMs: () => number,
): Promise<Round> {
  const readNodesMs = () => started.reduce((sum, { program }) => sum + cpuMsOf(program.pid), 0)
  const [nodesMs, postgresMs] = [readNodesMs(), readPostgresMs()]
  const { connections, seconds } = limits
  const rates = await Promise.all(
    targets.map((target) => runLoad({ ...target, connections, seconds })),
  )
  const rate = rates.reduce((sum, each) => sum + each, 0)
  const count = rate * seconds
  return {
    rate,
    nodesMs: (readNodesMs() - nodesMs) / count,
    postgresMs: (readPostgresMs() - postgresMs) / count,
  }
}

/**
 * The bar is for the throughput where the nodes are what limits it, and otherwise for the throughput
 * that follows from the CPU time of a request, because client and PostgreSQL need cores too.
 */
function toRow(name: string, one: readonly Round[], two: readonly Round[]): Cell[] {
  const rates = { a: two.map(({ rate }) => rate), b: one.map(({ rate }) => rate) }
  const { ratio, spread } = ratioOf(rates)
  const nodesMs = { a: one.map((round) => 2 * round.nodesMs), b: two.map((round) => round.nodesMs) }
  const byCpu = ratioOf(nodesMs)
  const isComputing = name.includes("computes")
  const medianOf = (rounds: readonly Round[], field: keyof Round, digits: number) =>
    median(rounds.map((round) => round[field])).toFixed(digits)
  return [
    name,
    medianOf(one, "rate", 0),
    medianOf(two, "rate", 0),
    `${ratio.toFixed(2)} (${spread})`,
    `${medianOf(one, "nodesMs", 3)} → ${medianOf(two, "nodesMs", 3)}`,
    `${medianOf(one, "postgresMs", 3)} → ${medianOf(two, "postgresMs", 3)}`,
    `${byCpu.ratio.toFixed(2)} (${byCpu.spread})`,
    atLeast(isComputing ? ratio : byCpu.ratio, limits.ratioMin),
  ]
}

function toTable(database: string, rows: readonly (readonly Cell[])[]): Table {
  return {
    title: `nodes: requests to one node and to two, each pinned to a core, with ${database}; ${limits.connections} connections to each`,
    columns: [
      "",
      "one node, 1/s",
      "two nodes, 1/s",
      "ratio",
      "ms of CPU of nodes",
      "ms of CPU of PostgreSQL",
      "ratio by CPU of nodes",
      "bar",
    ],
    rows,
  }
}
