import type { Benchmark } from "../harness/benchmark.ts"
import { timeColumns, toTimes } from "../harness/comparison.ts"
import { atMost } from "../harness/report.ts"
import { median, takeTurns } from "../harness/stats.ts"
import { describePeers, ensurePeers } from "../peers/install.ts"
import { startDenoHttpWorker } from "../peers/start.ts"
import { type Hamlet, startHamlet } from "../runs/hamlet.ts"
import { requestNewPath, requestOnce, timeOf, waitUntil } from "../runs/request.ts"

const limits = { vals: 30, warmUp: 3, ready: 4, p50MsMax: 40, workerRatioMax: 0.4 }
const importLine = `import { z } from "npm:zod@4.6.7"\n`
const code = `${importLine}const text = z.string()
export default () => new Response(text.parse("hello world"))
`

/** The time to the first response of a val that imports a package. */
export const packages: Benchmark = {
  name: "packages",
  isQuick: true,
  async run(context) {
    await ensurePeers(context.report)
    const hamlet = await startHamlet({ HAMLET_PROCESSES_READY: String(limits.ready) })
    const worker = await startDenoHttpWorker({ isNext: false, imports: importLine })
    try {
      const firstAnswers = { hamlet: () => askNewVal(hamlet), worker: () => askWorker(worker.url) }
      await takeTurns(limits.warmUp, firstAnswers)
      const times = await takeTurns(limits.vals, firstAnswers)
      const ratio = median(times.hamlet) / median(times.worker)
      const bar = atMost(median(times.hamlet), limits.p50MsMax, " ms")
      const peerBar = atMost(ratio, limits.workerRatioMax)
      return [
        {
          title: `packages: first response of a val that imports zod and has never run, ${limits.vals} vals; Hamlet with ${hamlet.isolation}, both with the package in their cache`,
          columns: ["", ...timeColumns, "Hamlet's p50 to this", "bar"],
          rows: [
            ["Hamlet", ...toTimes(times.hamlet), "", bar],
            [describePeers().worker, ...toTimes(times.worker), ratio.toFixed(2), peerBar],
          ],
        },
      ]
    } finally {
      for (const program of [hamlet, worker]) await program.stop()
    }
  },
}

let made = 0

async function askNewVal(hamlet: Hamlet): Promise<number> {
  const name = `packaged${made++}`
  const val = await hamlet.putVal(name, `// ${name}\n${code}`)
  await waitUntil(`the packages of ${name}`, async () => (await hamlet.lockState(val)) === "ready")
  await hamlet.waitForPool(limits.ready)
  const time = await timeOf(() => requestOnce(hamlet.program.url, { host: val.host }))
  await hamlet.waitForPool(limits.ready)
  return time
}

async function askWorker(url: string): Promise<number> {
  const { path, ms } = await requestNewPath(url)
  await fetch(url + path, { method: "DELETE" })
  return ms
}
