import type { Benchmark } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { toComparison } from "../harness/comparison.ts"
import { runLoad } from "../harness/load.ts"
import { readCpuSeconds } from "../harness/process-tree.ts"
import { atLeast } from "../harness/report.ts"
import { takeTurns } from "../harness/stats.ts"
import { type Hamlet, startHamlet } from "./hamlet.ts"
import { helloCode } from "./vals.ts"

const limits = chooseLimits(
  { connections: 16, seconds: 3, rounds: 7 },
  { connections: 2, seconds: 0.05, rounds: 1 },
)
/** Where there is another version: nothing that can be measured. */
const ratiosMin = { on: 0.9, off: 0.97 }

/**
 * What traces cost a warm request, in CPU of the server's process. With `HAMLET_BENCH_BEFORE`, the
 * folder of an earlier version with its packages, that one is compared too.
 */
export const traces: Benchmark = {
  name: "traces",
  isQuick: false,
  async run(context) {
    const collector = Bun.serve({ port: 0, fetch: () => new Response("") })
    const before = process.env.HAMLET_BENCH_BEFORE
    const endpoint = `http://localhost:${collector.port}`
    const off = await startHamlet()
    const on = await startHamlet({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })
    const earlier = before === undefined ? undefined : await startHamlet({}, before)
    try {
      const measures: Record<string, () => Promise<number>> = {
        off: await toMeasure(off),
        on: await toMeasure(on),
        ...(earlier && { before: await toMeasure(earlier) }),
      }
      await takeTurns(1, measures)
      const rates: Partial<Record<string, number[]>> = await takeTurns(limits.rounds, measures)
      const compare = (name: string, a = rates.off, b = rates.off, bar = 0) =>
        toComparison(context, "traces", [name], { a: a ?? [], b: b ?? [] }, (ratio) =>
          atLeast(ratio, bar),
        )
      return [
        {
          title: `traces: warm requests per second of the server's CPU, ${limits.connections} connections`,
          columns: ["compared", "the first", "the second", "ratio", "smallest – largest", "bar"],
          rows: [
            compare("with traces and without", rates.on, rates.off, ratiosMin.on),
            ...(rates.before
              ? [compare("without, and the version before", rates.off, rates.before, ratiosMin.off)]
              : []),
          ],
        },
      ]
    } finally {
      for (const hamlet of [off, on, earlier]) await hamlet?.stop()
      await collector.stop(true)
    }
  },
}

async function toMeasure(hamlet: Hamlet): Promise<() => Promise<number>> {
  const { host } = await hamlet.putVal("hello", helloCode)
  const { connections, seconds } = limits
  const { url, pid } = hamlet.program
  return async () => {
    const before = readCpuSeconds(pid)
    const rate = await runLoad({ url, host, paths: ["/"], connections, seconds })
    return (rate * seconds) / (readCpuSeconds(pid) - before)
  }
}
