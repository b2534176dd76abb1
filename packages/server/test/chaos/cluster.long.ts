import { expect, test } from "bun:test"
import { createRandom, testSeed } from "../support/random.ts"
import { ApiCaller } from "./cluster/api-caller.ts"
import { checkHistory, toOpenMs } from "./cluster/check-history.ts"
import { Clients, createVals } from "./cluster/clients.ts"
import { Cluster } from "./cluster/cluster.ts"
import { type FaultCounts, type FaultName, Faults, planFaults } from "./cluster/faults.ts"
import { readFinalState } from "./cluster/final-state.ts"
import { type EndedRun, type FinalState, History, type Period } from "./cluster/history.ts"

/*
 * `npm run long-test -- cluster`: three nodes behind HAProxy that are killed, paused, cut off and
 * left without file descriptors, while PostgreSQL and the libSQL server restart or refuse connections.
 * Clients record what they do and see; at the end that is checked as a history. It needs root, for
 * network namespaces.
 */

const { env } = process
const counts: FaultCounts = {
  kills: Number(env.HAMLET_CHAOS_KILLS ?? 300),
  postgres: Number(env.HAMLET_CHAOS_POSTGRES ?? 30),
  libsql: Number(env.HAMLET_CHAOS_LIBSQL ?? 30),
  pauses: Number(env.HAMLET_CHAOS_PAUSES ?? 30),
  cuts: Number(env.HAMLET_CHAOS_CUTS ?? 30),
  refusals: Number(env.HAMLET_CHAOS_REFUSALS ?? 30),
  files: Number(env.HAMLET_CHAOS_FILES ?? 30),
}
const minutesMax = Number(env.HAMLET_CHAOS_MINUTES ?? Number.POSITIVE_INFINITY)
/** Successful operations between two faults. */
const operationsBetween = 20

test(`a cluster with faults loses nothing and repeats nothing (HAMLET_TEST_SEED=${testSeed})`, async () => {
  const random = createRandom(testSeed)
  await using cluster = await Cluster.start(env.HAMLET_TEST_POSTGRES_BIN ?? "")
  const history = new History()
  const caller = new ApiCaller(cluster.proxy, history)
  const vals = await createVals(caller, cluster.effects)
  const clients = new Clients(caller, history, vals, random)
  const faults = new Faults(cluster, random)
  const caused: (Period & { readonly done: string })[] = []
  const endMs = performance.now() + minutesMax * 60_000
  for (const name of planFaults(counts, random)) {
    await clients.more(operationsBetween)
    if (performance.now() > endMs) break
    // A kill may have killed several.
    if (faults.count(name) >= counts[name]) continue
    const fromMs = Date.now()
    const done = await faults.cause(name)
    caused.push({ done, fromMs, toMs: Date.now() })
    console.info(`${new Date().toISOString()} ${done}; ${history.operations.length} operations`)
  }
  await clients.more(operationsBetween)
  await clients.stop()
  const end = await readFinalState(cluster, history, vals)
  const done = (Object.keys(counts) as FaultName[]).map((name) => [name, faults.count(name)])
  console.info({
    ...Object.fromEntries(done),
    ...caller.counts,
    operations: countKinds(history),
    runs: countStatuses(end.runs),
    scheduled: countStatuses(end.scheduledRuns),
    slowestRunsMs: toSlowest(end),
  })
  const problems = [...history.unexpected, ...checkHistory(history.operations, end)]
  const file = env.HAMLET_CHAOS_HISTORY
  if (problems.length > 0 && file !== undefined)
    await Bun.write(
      file,
      JSON.stringify({ problems, history, end, caused, logs: cluster.logs }, toPlain),
    )
  expect(problems).toEqual([])
}, 0)

/** The longest that runs were open, by the number of their attempts. */
function toSlowest({ runs, scheduledRuns, outages }: FinalState): Readonly<Record<number, number>> {
  const slowest: Record<number, number> = {}
  for (const run of [...runs, ...scheduledRuns])
    slowest[run.attempt] = Math.max(slowest[run.attempt] ?? 0, toOpenMs(run, outages))
  return slowest
}

function toPlain(_: string, value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value
}

function countKinds({ operations }: History): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...Map.groupBy(operations, ({ kind }) => kind)].map(([kind, of]) => [kind, of.length]),
  )
}

function countStatuses(runs: readonly EndedRun[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...Map.groupBy(runs, ({ status }) => status)].map(([status, of]) => [status, of.length]),
  )
}
