import type { Benchmark } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { atMost, type Cell } from "../harness/report.ts"
import { median, percentile, takeTurns } from "../harness/stats.ts"
import { describePeers, ensurePeers } from "../peers/install.ts"
import { startDenoHttpWorker, startWorkerLoader } from "../peers/start.ts"
import { type Hamlet, startHamlet } from "./hamlet.ts"
import { requestNewPath, requestOnce, timeOf } from "./request.ts"
import { helloCode } from "./vals.ts"

const limits = chooseLimits(
  {
    vals: 60,
    warmUp: 5,
    ready: 4,
    restMs: 50,
    loaderRatioMax: 0.5,
    workerRatioMax: 0.08,
  },
  { vals: 1, warmUp: 0, ready: 1 },
)

/** The time to the first response of a val that has never run. */
export const cold: Benchmark = {
  name: "cold",
  isQuick: true,
  async run(context) {
    await ensurePeers(context.report)
    const hamlet = await startHamlet({ HAMLET_PROCESSES_READY: String(limits.ready) })
    const loader = await startWorkerLoader()
    const worker = await startDenoHttpWorker({ isNext: false })
    const nextWorker = await startDenoHttpWorker({ isNext: true })
    try {
      const firstAnswers = {
        hamlet: () => askNewVal(hamlet),
        loader: () => askPeer(loader.url, { isEnded: false }),
        worker: () => askPeer(worker.url, { isEnded: true }),
        nextWorker: () => askPeer(nextWorker.url, { isEnded: true }),
      }
      await takeTurns(limits.warmUp, firstAnswers)
      const times = await takeTurns(limits.vals, firstAnswers)
      const peers = describePeers()
      const rows = [
        toRow("Hamlet", times.hamlet),
        toRow(peers.loader, times.loader, { of: times.hamlet, ratioMax: limits.loaderRatioMax }),
        toRow(peers.worker, times.worker, { of: times.hamlet, ratioMax: limits.workerRatioMax }),
        toRow("the same with its `next` options", times.nextWorker, { of: times.hamlet }),
      ]
      const title = `cold: first response of a val that has never run, ${limits.vals} vals one after the other; Hamlet through its gateway, with ${hamlet.isolation}, run recorded`
      return [
        {
          title,
          columns: ["", "p50, ms", "smallest – p90, ms", "Hamlet's p50 to this", "bar"],
          rows,
        },
      ]
    } finally {
      for (const program of [hamlet, loader, worker, nextWorker]) await program.stop()
    }
  },
}

let made = 0

async function askNewVal(hamlet: Hamlet): Promise<number> {
  const name = `cold${made++}`
  const val = await hamlet.putVal(name, `// ${name}\n${helloCode}`)
  await hamlet.waitForPool(limits.ready)
  const time = await timeOf(() => requestOnce(hamlet.program.url, { host: val.host }))
  await hamlet.assertRuns(val, 1)
  // The peers are not measured while Hamlet starts the process that replaces the one just used.
  await hamlet.waitForPool(limits.ready)
  return time
}

async function askPeer(url: string, { isEnded }: { readonly isEnded: boolean }): Promise<number> {
  await Bun.sleep(limits.restMs)
  const { path, ms } = await requestNewPath(url)
  if (isEnded) await fetch(url + path, { method: "DELETE" })
  return ms
}

function toRow(
  name: string,
  times: readonly number[],
  compared?: { readonly of: readonly number[]; readonly ratioMax?: number },
): Cell[] {
  const ratio = compared && median(compared.of) / median(times)
  const spread = `${Math.min(...times).toFixed(1)} – ${percentile(times, 90).toFixed(1)}`
  const bar =
    ratio !== undefined && compared?.ratioMax !== undefined ? atMost(ratio, compared.ratioMax) : ""
  return [name, median(times).toFixed(1), spread, ratio?.toFixed(2) ?? "", bar]
}
