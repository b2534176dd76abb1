import type { Benchmark } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { timeColumns, toTimes } from "../harness/comparison.ts"
import { atMost, type Cell, type Table } from "../harness/report.ts"
import { median, percentile, takeTurns } from "../harness/stats.ts"
import { describePeers, ensurePeers } from "../peers/install.ts"
import { startDenoHttpWorker, startWorkerLoader } from "../peers/start.ts"
import { type Hamlet, startHamlet } from "./hamlet.ts"
import { requestNewPath, requestOnce, timeOf, waitUntil } from "./request.ts"
import { helloCode, longCode, toManyFiles } from "./vals.ts"

const limits = chooseLimits(
  {
    vals: 60,
    // Three sizes: with more, the server would have no room for processes that are ready.
    valsPerSize: 15,
    warmUp: 5,
    ready: 4,
    restMs: 50,
    loaderRatioMax: 0.6,
    workerRatioMax: 0.08,
    files: 20,
    longRatioMax: 1.3,
    filesRatioMax: 1.4,
    /** A percentile of the slowest hundredth needs so many. */
    tailVals: 2_000,
    tailRestMs: 250,
    tailMsMax: 8,
  },
  { vals: 1, valsPerSize: 1, warmUp: 0, ready: 1, tailVals: 1 },
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
        { title, columns: ["", ...timeColumns, "Hamlet's p50 to this", "bar"], rows },
        await measureTail(hamlet, loader.url),
        await measureSizes(),
      ]
    } finally {
      for (const program of [hamlet, loader, worker, nextWorker]) await program.stop()
    }
  },
}

/** Measures the slowest first responses. Between two, the pool fills up, and nothing else is awaited. */
async function measureTail(hamlet: Hamlet, loaderUrl: string): Promise<Table> {
  const times = await takeTurns(limits.tailVals, {
    hamlet: () => askSoon(hamlet),
    loader: () => askPeer(loaderUrl, { isEnded: false }),
  })
  const toTailRow = (name: string, of: readonly number[]): string[] => [
    name,
    ...[50, 99, 100].map((percent) => percentile(of, percent).toFixed(1)),
  ]
  const p99 = percentile(times.hamlet, 99)
  return {
    title: `cold, the slowest: first response of a val that has never run, ${limits.tailVals} vals one after the other`,
    columns: ["", "p50, ms", "p99, ms", "largest, ms", "bar of the p99"],
    rows: [
      [...toTailRow("Hamlet", times.hamlet), atMost(p99, limits.tailMsMax, " ms")],
      [...toTailRow(describePeers().loader, times.loader), ""],
    ],
  }
}

/**
 * Measures the first responses of vals of different sizes. Each val was saved a moment before, and
 * has not run.
 */
async function measureSizes(): Promise<Table> {
  const hamlet = await startHamlet({ HAMLET_PROCESSES_READY: String(limits.ready) })
  const times = await timeSizes(hamlet).finally(() => hamlet.stop())
  const toSizeRow = (name: string, of: readonly number[], ratioMax?: number): Cell[] => {
    const ratio = median(of) / median(times.short)
    const bar = ratioMax === undefined ? "" : atMost(ratio, ratioMax)
    return [name, ...toTimes(of), ratio.toFixed(2), bar]
  }
  return {
    title: `cold, by size: first response of vals that have never run, ${limits.valsPerSize} of each in turns`,
    columns: ["", ...timeColumns, "to 5 lines", "bar"],
    rows: [
      toSizeRow("5 lines", times.short),
      toSizeRow("300 lines", times.long, limits.longRatioMax),
      toSizeRow(`${limits.files} files of 10 lines`, times.files, limits.filesRatioMax),
    ],
  }
}

async function timeSizes(hamlet: Hamlet) {
  const files = toManyFiles(limits.files)
  await askNewVal(hamlet)
  return takeTurns(limits.valsPerSize, {
    short: () => askNewVal(hamlet),
    long: () => askNewVal(hamlet, [{ path: "main.tsx", content: longCode }]),
    files: () => askNewVal(hamlet, files),
  })
}

let made = 0

async function askNewVal(
  hamlet: Hamlet,
  files: ReturnType<typeof toManyFiles> = [{ path: "main.tsx", content: helloCode }],
): Promise<number> {
  const name = `cold${made++}`
  const [entry, ...others] = files.map(({ path, content }) => ({
    path,
    content: `// ${name}\n${content}`,
  }))
  const val = await hamlet.putVal(name, entry?.content ?? "")
  if (others.length > 0) await hamlet.putFiles(val, others)
  await hamlet.waitForPool(limits.ready)
  const time = await timeOf(() => requestOnce(hamlet.program.url, { host: val.host }))
  await hamlet.assertRuns(val, 1)
  // The peers are not measured while Hamlet starts the process that replaces the one just used.
  await hamlet.waitForPool(limits.ready)
  return time
}

async function askSoon(hamlet: Hamlet): Promise<number> {
  const name = `cold${made++}`
  const { host } = await hamlet.putVal(name, `// ${name}\n${helloCode}`)
  await waitUntil("the pool", async () => (await hamlet.status()).ready >= limits.ready)
  await Bun.sleep(limits.tailRestMs)
  return timeOf(() => requestOnce(hamlet.program.url, { host }))
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
  const bar =
    ratio !== undefined && compared?.ratioMax !== undefined ? atMost(ratio, compared.ratioMax) : ""
  return [name, ...toTimes(times), ratio?.toFixed(2) ?? "", bar]
}
