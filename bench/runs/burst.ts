import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Benchmark, Context } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { toComparison } from "../harness/comparison.ts"
import type { Program } from "../harness/program.ts"
import { atMost, type Cell } from "../harness/report.ts"
import { createScratchFolder } from "../harness/scratch.ts"
import { alternate } from "../harness/stats.ts"
import { describePeers, ensurePeers } from "../peers/install.ts"
import { startWorkerLoader } from "../peers/start.ts"
import { type Hamlet, startHamlet, startOwnHamlet } from "./hamlet.ts"
import { requestNewPath, requestOnce, timeOf, waitUntil } from "./request.ts"
import { helloCode } from "./vals.ts"

const limits = chooseLimits(
  {
    vals: 100,
    ready: 128,
    rounds: 5,
    /** After its start a server compiles for later processes; a burst meets that seldom. */
    settledMs: 10_000,
    restMs: 500,
    attemptsMax: 3,
    ratioMax: 1.5,
    /** With the default pool, almost all processes have to be started first. */
    ratioByDefaultMax: 5,
    ratioHourLaterMax: 2,
    /** Ready when there was no burst, the default. */
    few: 4,
    /** What one account took counts up to three quarters of the pool. */
    readyMax: 140,
  },
  { vals: 2, ready: 2, rounds: 1, settledMs: 0, restMs: 0, few: 1, readyMax: 4 },
)

interface Pool {
  readonly name: string
  readonly ready: number
  readonly settings: Readonly<Record<string, string>>
  /** Between a first burst and the one that is measured: the clock moves, and the pool grows or shrinks. */
  readonly moves?: readonly { readonly minutes: number; readonly isPoolFull: boolean }[]
  readonly ratioMax: number
}

const remembering = {
  ready: limits.few,
  settings: {
    HAMLET_PROCESSES_READY: String(limits.few),
    HAMLET_PROCESSES_READY_MAX: String(limits.readyMax),
  },
}
const pools: readonly Pool[] = [
  {
    name: `${limits.ready}`,
    ready: limits.ready,
    settings: {
      HAMLET_PROCESSES_READY: String(limits.ready),
      HAMLET_PROCESSES_READY_MAX: String(limits.ready),
    },
    ratioMax: limits.ratioMax,
  },
  { name: "the default", ready: limits.few, settings: {}, ratioMax: limits.ratioByDefaultMax },
  {
    ...remembering,
    name: `${limits.few} to ${limits.readyMax}, two minutes after a burst`,
    moves: [{ minutes: 2, isPoolFull: true }],
    ratioMax: limits.ratioMax,
  },
  {
    ...remembering,
    name: `${limits.few} to ${limits.readyMax}, an hour after a burst`,
    moves: [
      { minutes: 30, isPoolFull: false },
      { minutes: 29, isPoolFull: true },
    ],
    ratioMax: limits.ratioHourLaterMax,
  },
]

/**
 * The time until all have responded when many vals that have never run are requested at once.
 */
export const burst: Benchmark = {
  name: "burst",
  isQuick: true,
  async run(context) {
    await ensurePeers(context.report)
    const rows: Cell[][] = []
    for (const pool of pools) rows.push(await compare(context, pool))
    const title = `burst: ${limits.vals} vals that have never run, all requested at once, until the last has responded, against the ${describePeers().loader}`
    const columns = [
      "processes ready",
      "responded",
      "Hamlet, ms",
      "Worker Loader, ms",
      "ratio",
      "smallest – largest",
      "bar",
    ]
    return [{ title, columns, rows }]
  },
}

async function compare(context: Context, pool: Pool): Promise<Cell[]> {
  let responded = limits.vals
  const askAll = async () => {
    const result = await askNewVals(pool)
    responded = Math.min(responded, result.responded)
    return result.ms
  }
  const times = await alternate(limits.rounds, askAll, () => askNewLoader(context))
  // A refusal is quick, so a server that refuses requests has not handled the burst.
  return toComparison(context, "burst", [pool.name, String(responded)], times, (ratio) =>
    responded === limits.vals
      ? atMost(ratio, pool.ratioMax)
      : { bar: "all responded", isMet: false },
  )
}

let made = 0

interface Burst {
  readonly ms: number
  readonly responded: number
}

/** A new server for each round: leftovers of the last round would disturb the next. */
async function askNewVals({ ready, settings, moves }: Pool): Promise<Burst> {
  if (moves === undefined) {
    const hamlet = await startHamlet(settings)
    return await askOnce(hamlet, ready).finally(() => hamlet.stop())
  }
  const clock = join(createScratchFolder(), "clock")
  const preload = join(import.meta.dir, "movable-clock.ts")
  const hamlet = await startOwnHamlet({ ...settings, CLOCK_FILE: clock }, { preload })
  try {
    await askOnce(hamlet, ready)
    let minutes = 0
    for (const move of moves) {
      minutes += move.minutes
      writeFileSync(clock, String(minutes * 60_000))
      process.kill(hamlet.program.pid, "SIGUSR2")
      if (!move.isPoolFull)
        await waitUntil("the pool to shrink", async () => (await hamlet.status()).ready <= ready)
    }
    return await askOnce(hamlet, limits.vals)
  } finally {
    await hamlet.stop()
  }
}

async function askOnce(hamlet: Hamlet, ready: number): Promise<Burst> {
  const names = Array.from({ length: limits.vals }, () => `burst${made++}`)
  const vals = await Promise.all(
    names.map((name) => hamlet.putVal(name, `// ${name}\n${helloCode}`)),
  )
  await Bun.sleep(limits.settledMs)
  await hamlet.waitForPool(ready)
  const began = performance.now()
  const outcomes = await Promise.allSettled(
    vals.map(({ host }) => requestOnce(hamlet.program.url, { host })),
  )
  const ms = performance.now() - began
  const ran = vals.filter((_, index) => outcomes[index]?.status === "fulfilled")
  await Promise.all(ran.map((val) => hamlet.assertRuns(val, 1)))
  return { ms, responded: ran.length }
}

/**
 * A new one for each round too: after some thousand isolates workerd fails. The first burst warms it
 * up.
 */
async function askNewLoader(context: Context): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const loader = await startWorkerLoader()
    try {
      await requestNewPaths(loader)
      return await requestNewPaths(loader)
    } catch (error) {
      if (attempt === limits.attemptsMax) throw error
      context.report(
        `burst: the Worker Loader broke down and is started again: ${error instanceof Error ? error.message : error}`,
      )
    } finally {
      await loader.stop()
    }
  }
}

async function requestNewPaths({ url }: Program): Promise<number> {
  await Bun.sleep(limits.restMs)
  return timeOf(() => Promise.all(Array.from({ length: limits.vals }, () => requestNewPath(url))))
}
