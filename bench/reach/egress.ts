import { join } from "node:path"
import { findDeno } from "../../scripts/find-deno.ts"
import type { Benchmark } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { atLeast, atMost } from "../harness/report.ts"
import { createScratchFolder } from "../harness/scratch.ts"
import { median } from "../harness/stats.ts"
import { type BenchVal, type Hamlet, startHamlet } from "../runs/hamlet.ts"
import { fetchingCode, fetchingProgram, type Measured } from "./measuring-code.ts"

const limits = chooseLimits({ rounds: 5, rateRatioMin: 0.5, addedMsMax: 1 }, { rounds: 1 })

/** The cost of the egress proxy for the requests of a val. */
export const egress: Benchmark = {
  name: "egress",
  isQuick: true,
  async run() {
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => new Response("hello world"),
    })
    const url = `http://localhost:${server.port}/`
    const hamlet = await startHamlet({ HAMLET_EGRESS_ALLOW: `localhost:${server.port}` })
    try {
      const val = await hamlet.putVal("fetches", fetchingCode)
      const program = join(createScratchFolder(), "fetches.ts")
      await Bun.write(program, fetchingProgram)
      const through: Measured[] = []
      const bare: Measured[] = []
      for (let round = 0; round < limits.rounds; round++) {
        through.push(await askVal(hamlet, val, `/?url=${encodeURIComponent(url)}`))
        bare.push(await runBare(program, url))
      }
      const rates = [through, bare].map((all) => median(all.map(({ rate }) => rate)))
      const times = [through, bare].map((all) => median(all.map(({ p50Ms }) => p50Ms)))
      const ratio = median(
        through.map(({ rate }, round) => rate / (bare[round]?.rate ?? Number.NaN)),
      )
      const addedMs = median(
        through.map(({ p50Ms }, round) => p50Ms - (bare[round]?.p50Ms ?? Number.NaN)),
      )
      return [
        {
          title: `egress: fetch of a small response from a server on this machine, in a val with ${hamlet.isolation} and in plain Deno`,
          columns: ["", "val", "plain Deno", "compared", "bar"],
          rows: [
            [
              "16 at once, 1/s",
              ...rates.map((rate) => rate.toFixed(0)),
              `ratio ${ratio.toFixed(2)}`,
              atLeast(ratio, limits.rateRatioMin),
            ],
            [
              "one after the other, p50 ms",
              ...times.map((ms) => ms.toFixed(2)),
              `${addedMs.toFixed(2)} ms more`,
              atMost(addedMs, limits.addedMsMax, " ms"),
            ],
          ],
        },
      ]
    } finally {
      await hamlet.stop()
      await server.stop(true)
    }
  },
}

/** The result of a measuring val. */
export async function askVal(hamlet: Hamlet, val: BenchVal, path: string): Promise<Measured> {
  const response = await fetch(hamlet.program.url + path, { headers: { host: val.host } })
  const text = await response.text()
  if (!response.ok)
    throw new Error(
      `Cannot measure ${val.name}: it responded ${response.status} ${text.slice(0, 500)}`,
    )
  return JSON.parse(text) as Measured
}

async function runBare(program: string, url: string): Promise<Measured> {
  const child = Bun.spawn(
    [findDeno(), "run", "--no-config", "--no-lock", "--allow-net", program, url],
    { stdout: "pipe" },
  )
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error("Cannot measure: plain Deno has failed")
  return JSON.parse(text) as Measured
}
