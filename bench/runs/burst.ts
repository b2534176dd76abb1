import type { Benchmark, Context } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { toComparison } from "../harness/comparison.ts"
import type { Program } from "../harness/program.ts"
import { atMost, type Cell } from "../harness/report.ts"
import { alternate } from "../harness/stats.ts"
import { describePeers, ensurePeers } from "../peers/install.ts"
import { startWorkerLoader } from "../peers/start.ts"
import { startHamlet } from "./hamlet.ts"
import { requestNewPath, requestOnce, timeOf } from "./request.ts"
import { helloCode } from "./vals.ts"

const limits = chooseLimits(
  {
    vals: 100,
    ready: 128,
    rounds: 5,
    restMs: 500,
    attemptsMax: 3,
    ratioMax: 1.5,
    /** With the default pool, almost all processes have to be started first. */
    ratioByDefaultMax: 6,
  },
  { vals: 2, ready: 2, rounds: 1, restMs: 0 },
)

interface Pool {
  readonly name: string
  readonly ready: number
  readonly settings: Readonly<Record<string, string>>
}

const pools = {
  large: {
    name: String(limits.ready),
    ready: limits.ready,
    settings: {
      HAMLET_PROCESSES_READY: String(limits.ready),
      HAMLET_PROCESSES_READY_MAX: String(limits.ready),
    },
  },
  byDefault: { name: "4, the default", ready: 4, settings: {} },
} as const satisfies Record<string, Pool>

/**
 * The time until all have responded when many vals that have never run are requested at once.
 */
export const burst: Benchmark = {
  name: "burst",
  isQuick: true,
  async run(context) {
    await ensurePeers(context.report)
    const rows = [
      await compare(context, pools.large, (ratio) => atMost(ratio, limits.ratioMax)),
      await compare(context, pools.byDefault, (ratio) => atMost(ratio, limits.ratioByDefaultMax)),
    ]
    const title = `burst: ${limits.vals} vals that have never run, all requested at once, until the last has responded, against the ${describePeers().loader}`
    const columns = [
      "`HAMLET_PROCESSES_READY`",
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

async function compare(
  context: Context,
  pool: Pool,
  toBar: (ratio: number) => Cell,
): Promise<Cell[]> {
  let responded = limits.vals
  const askAll = async () => {
    const result = await askNewVals(pool)
    responded = Math.min(responded, result.responded)
    return result.ms
  }
  const times = await alternate(limits.rounds, askAll, () => askNewLoader(context))
  // A refusal is quick, so a server that refuses requests has not handled the burst.
  return toComparison(context, "burst", [pool.name, String(responded)], times, (ratio) =>
    responded === limits.vals ? toBar(ratio) : { bar: "all responded", isMet: false },
  )
}

let made = 0

/** A new server for each round: leftovers of the last round would disturb the next. */
async function askNewVals({
  ready,
  settings,
}: Pool): Promise<{ readonly ms: number; readonly responded: number }> {
  const hamlet = await startHamlet(settings)
  try {
    const names = Array.from({ length: limits.vals }, () => `burst${made++}`)
    const vals = await Promise.all(
      names.map((name) => hamlet.putVal(name, `// ${name}\n${helloCode}`)),
    )
    await hamlet.waitForPool(ready)
    const began = performance.now()
    const outcomes = await Promise.allSettled(
      vals.map(({ host }) => requestOnce(hamlet.program.url, { host })),
    )
    const ms = performance.now() - began
    const ran = vals.filter((_, index) => outcomes[index]?.status === "fulfilled")
    await Promise.all(ran.map((val) => hamlet.assertRuns(val, 1)))
    return { ms, responded: ran.length }
  } finally {
    await hamlet.stop()
  }
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
