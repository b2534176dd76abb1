import type { Benchmark } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { timeColumns, toTimes } from "../harness/comparison.ts"
import { atMost } from "../harness/report.ts"
import { median, takeTurns } from "../harness/stats.ts"
import { type Hamlet, startHamlet } from "./hamlet.ts"
import { requestOnce, timeOf } from "./request.ts"
import { toVersionCode } from "./vals.ts"

const limits = chooseLimits(
  { saves: 60, warmUp: 5, ready: 4, p50MsMax: 25 },
  { saves: 1, warmUp: 0, ready: 1 },
)

/** The time from sending code to its first response. */
export const firstSave: Benchmark = {
  name: "first-save",
  isQuick: true,
  async run() {
    const hamlet = await startHamlet({ HAMLET_PROCESSES_READY: String(limits.ready) })
    try {
      const saves = {
        next: () => saveAndAsk(hamlet, () => "page"),
        first: () => saveAndAsk(hamlet, (version) => `val_${version}`),
      }
      await takeTurns(limits.warmUp, saves)
      const times = await takeTurns(limits.saves, saves)
      const nextBar = atMost(median(times.next), limits.p50MsMax, " ms")
      const rows = [
        ["the next version of a val that is running", ...toTimes(times.next), nextBar],
        ["the first version of a new val", ...toTimes(times.first), ""],
      ]
      const title = `first-save: from sending \`PUT /v1/vals\` to the first response of that version on its address, ${limits.saves} saves one after the other`
      return [{ title, columns: ["", ...timeColumns, "bar"], rows }]
    } finally {
      await hamlet.stop()
    }
  },
}

let saved = 0

async function saveAndAsk(hamlet: Hamlet, toName: (version: string) => string): Promise<number> {
  const version = `version${saved++}`
  await hamlet.waitForPool(limits.ready)
  return timeOf(async () => {
    const { host } = await hamlet.putVal(toName(version), toVersionCode(version))
    await requestOnce(hamlet.program.url, { host, expected: version })
  })
}
