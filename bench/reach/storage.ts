import type { Benchmark } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { atLeast, type Cell } from "../harness/report.ts"
import { median } from "../harness/stats.ts"
import { startHamlet } from "../runs/hamlet.ts"
import { askVal } from "./egress.ts"
import { type Measured, toStorageCode } from "./measuring-code.ts"

const limits = chooseLimits({ rounds: 5, rateMin: 3_000 }, { rounds: 1 })

/** How many reads of stored data a val can do per second. */
export const storage: Benchmark = {
  name: "storage",
  isQuick: true,
  async run() {
    const hamlet = await startHamlet()
    try {
      const port = new URL(hamlet.program.url).port
      const val = await hamlet.putVal("remembers", toStorageCode(`http://localhost:${port}`))
      const measure = async (path: string): Promise<Measured[]> => {
        const all: Measured[] = []
        for (let round = 0; round < limits.rounds; round++)
          all.push(await askVal(hamlet, val, path))
        return all
      }
      return [
        {
          title: `storage: reads from one val with ${hamlet.isolation}, through the API and with its token; SQLite`,
          columns: [
            "",
            "16 at once, 1/s",
            "smallest – largest",
            "one after the other, p50 ms",
            "bar",
          ],
          rows: [
            toRow("blob.get of 1 KB", await measure("/blob")),
            toRow("sqlite.execute of a keyed read", await measure("/sqlite")),
          ],
        },
      ]
    } finally {
      await hamlet.stop()
    }
  },
}

function toRow(name: string, measured: readonly Measured[]): Cell[] {
  const rates = measured.map(({ rate }) => rate)
  const spread = `${Math.min(...rates).toFixed(0)} – ${Math.max(...rates).toFixed(0)}`
  const p50 = median(measured.map(({ p50Ms }) => p50Ms))
  return [
    name,
    median(rates).toFixed(0),
    spread,
    p50.toFixed(2),
    atLeast(median(rates), limits.rateMin),
  ]
}
