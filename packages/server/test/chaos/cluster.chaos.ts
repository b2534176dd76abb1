import { expect, test } from "bun:test"
import { createRandom, testSeed } from "../support/random.ts"
import { ApiCaller } from "./cluster/api-caller.ts"
import { checkHistory } from "./cluster/check-history.ts"
import { Clients, createVals } from "./cluster/clients.ts"
import { Cluster } from "./cluster/cluster.ts"
import { type FaultCounts, type FaultName, Faults, lanes, planFaults } from "./cluster/faults.ts"
import { readFinalState } from "./cluster/final-state.ts"
import { type EndedRun, History } from "./cluster/history.ts"

/*
 * `npm run chaos -- cluster`: three nodes behind HAProxy that are killed, paused and cut off, while
 * PostgreSQL and the libSQL server restart. Clients record what they do and see; at the end that is
 * checked as a history. It needs root, for network namespaces.
 */

const { env } = process
const counts: FaultCounts = {
  kills: Number(env.HAMLET_CHAOS_KILLS ?? 300),
  postgres: Number(env.HAMLET_CHAOS_POSTGRES ?? 30),
  libsql: Number(env.HAMLET_CHAOS_LIBSQL ?? 30),
  pauses: Number(env.HAMLET_CHAOS_PAUSES ?? 30),
  cuts: Number(env.HAMLET_CHAOS_CUTS ?? 30),
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
  const endMs = performance.now() + minutesMax * 60_000
  let failure: unknown
  const work = async (plan: readonly FaultName[]) => {
    for (const name of plan) {
      await clients.more(operationsBetween)
      if (performance.now() > endMs || failure !== undefined) break
      // A kill may have killed several.
      if (faults.count(name) >= counts[name]) continue
      const done = await faults.cause(name)
      console.info(`${new Date().toISOString()} ${done}; ${history.operations.length} operations`)
    }
  }
  // When one lane fails, the other one ends before the cluster does.
  const noteFailure = (error: unknown) => {
    failure = error
  }
  await Promise.all(lanes.map((lane) => work(planFaults(lane, counts, random)).catch(noteFailure)))
  if (failure !== undefined) throw failure
  await clients.more(operationsBetween)
  await clients.stop()
  const end = await readFinalState(cluster, history, vals)
  const done = lanes.flat().map((name) => [name, faults.count(name)])
  console.info({
    ...Object.fromEntries(done),
    ...caller.counts,
    operations: countKinds(history),
    runs: countStatuses(end.runs),
    scheduled: countStatuses(end.scheduledRuns),
    slowestRunMs: Math.max(...end.runs.map(({ queuedMs, endedMs = 0 }) => endedMs - queuedMs)),
  })
  const problems = [...history.unexpected, ...checkHistory(history.operations, end)]
  const file = env.HAMLET_CHAOS_HISTORY
  if (problems.length > 0 && file !== undefined)
    await Bun.write(file, JSON.stringify({ problems, history, end, logs: cluster.logs }, toPlain))
  expect(problems).toEqual([])
}, 0)

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
