import type { Benchmark, Context } from "../harness/benchmark.ts"
import type { Program } from "../harness/program.ts"
import { atMost, type Cell } from "../harness/report.ts"
import { alternate, median, ratioOf } from "../harness/stats.ts"
import { describePeers, ensurePeers } from "../peers/install.ts"
import { startWorkerLoader } from "../peers/start.ts"
import { askNewPath, askOnce, timeOf } from "./ask.ts"
import { startHamlet } from "./hamlet.ts"
import { helloCode } from "./vals.ts"

const limits = { vals: 100, ready: 128, readyByDefault: 4, rounds: 5, restMs: 500, ratioMax: 1.5 }

/** How long it takes until all have an answer when many vals that never ran are asked at the same moment. */
export const burst: Benchmark = {
  name: "burst",
  isQuick: true,
  async run(context) {
    await ensurePeers(context.say)
    const loader = await startWorkerLoader()
    try {
      await askNewPaths(loader)
      const rows = [
        await compare(context, loader, limits.ready, (ratio) => atMost(ratio, limits.ratioMax)),
        await compare(context, loader, limits.readyByDefault, () => ""),
      ]
      const title = `burst: ${limits.vals} vals that have never run, all asked at once, until the last has answered, against the ${describePeers().loader}`
      return [
        { title, columns: ["`HAMLET_PROCESSES_READY`", "Hamlet, ms", "Worker Loader, ms", "ratio", "smallest – largest", "bar"], rows },
      ]
    } finally {
      await loader.stop()
    }
  },
}

async function compare(context: Context, loader: Program, ready: number, toBar: (ratio: number) => Cell): Promise<Cell[]> {
  const times = await alternate(
    limits.rounds,
    () => askNewVals(ready),
    () => askNewPaths(loader),
  )
  const { ratio, spread } = ratioOf(times)
  context.say(`burst, ${ready} processes ready: ${ratio.toFixed(2)} (${spread})`)
  const name = ready === limits.readyByDefault ? `${ready}, the default` : String(ready)
  return [name, median(times.a).toFixed(0), median(times.b).toFixed(0), ratio.toFixed(2), spread, toBar(ratio)]
}

/** A new server for each round: what is left of the last one would be in the way of the next. */
async function askNewVals(ready: number): Promise<number> {
  const hamlet = await startHamlet({ HAMLET_PROCESSES_READY: String(ready), HAMLET_PROCESSES_READY_MAX: String(limits.ready) })
  try {
    const names = Array.from({ length: limits.vals }, (_, index) => `burst${index}`)
    const vals = await Promise.all(names.map((name) => hamlet.putVal(name, `// ${name}\n${helloCode}`)))
    await hamlet.waitForPool(ready)
    await Bun.sleep(limits.restMs)
    const time = await timeOf(() => Promise.all(vals.map(({ host }) => askOnce(hamlet.program.url, { host }))))
    await Promise.all(vals.map((val) => hamlet.assertRuns(val, 1)))
    return time
  } finally {
    await hamlet.stop()
  }
}

async function askNewPaths({ url }: Program): Promise<number> {
  await Bun.sleep(limits.restMs)
  return timeOf(() => Promise.all(Array.from({ length: limits.vals }, () => askNewPath(url))))
}
