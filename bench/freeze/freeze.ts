import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Benchmark } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { startServer } from "../harness/program.ts"
import type { Table } from "../harness/report.ts"
import { createScratchFolder } from "../harness/scratch.ts"
import { percentile } from "../harness/stats.ts"
import { firstUser, token } from "../runs/hamlet.ts"
import { type Attacker, createAttackers } from "./attackers.ts"

const limits = chooseLimits(
  { quietMs: 5_000, attackMs: 30_000, sampleMs: 5, pauseMs: 5, askMsMax: 120_000 },
  { quietMs: 100, attackMs: 300 },
)
/**
 * How long three users together can block the event loop for other users, measured inside the
 * server.
 */
export const freeze: Benchmark = {
  name: "freeze",
  isQuick: false,
  async run(context) {
    const loopFile = join(createScratchFolder(), "loop.txt")
    writeFileSync(loopFile, "")
    const program = await startServer({
      dataDir: createScratchFolder(),
      settings: { ...firstUser, BENCH_LOOP_FILE: loopFile },
      program: process.env.BENCH_SERVER,
      preload: new URL("./loop-probe.ts", import.meta.url).pathname,
    })
    try {
      const attackers = await createAttackers(program.url, token)
      const quiet = await measure(program.url, loopFile, [], limits.quietMs)
      context.report(`freeze: ${describe(quiet)} alone`)
      const attacked = await measure(program.url, loopFile, attackers, limits.attackMs)
      context.report(`freeze: ${describe(attacked)} under attack`)
      return [toTable(quiet, attacked)]
    } finally {
      await program.stop()
    }
  },
}

interface Measured {
  /** The wait of a caller that arrives at a random time. */
  readonly waits: readonly number[]
  /** The waits in CPU time of the thread. */
  readonly works: readonly number[]
  /** The time that another client waits for its response. */
  readonly asks: readonly number[]
  readonly attacks: number
}

async function measure(
  url: string,
  loopFile: string,
  attackers: readonly Attacker[],
  ms: number,
): Promise<Measured> {
  const from = readFileSync(loopFile, "utf8").length
  const end = performance.now() + ms
  let attacks = 0
  const attack = async (attacker: Attacker) => {
    while (performance.now() < end) {
      await attacker()
      attacks += 1
    }
  }
  const asks: number[] = []
  const request = async () => {
    while (performance.now() < end) {
      const startedMs = performance.now()
      await (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(limits.askMsMax) })).text()
      asks.push(performance.now() - startedMs)
      await Bun.sleep(limits.pauseMs)
    }
  }
  await Promise.all([...attackers.map(attack), request()])
  // The pause in progress is recorded a moment later.
  await Bun.sleep(1_000)
  const samples = readFileSync(loopFile, "utf8")
    .slice(from)
    .trim()
    .split("\n")
    .map((line) => line.split(" ").map(Number))
  const waits = samples.flatMap(([delay = 0]) => toWaits(delay))
  return { waits, works: samples.flatMap(([, work = 0]) => toWaits(work)), asks, attacks }
}

/**
 * A caller that arrives in the middle of a pause waits for half of it: the figure counts all callers
 * that could have arrived.
 */
function toWaits(delayMs: number): readonly number[] {
  return Array.from(
    { length: Math.floor(delayMs / limits.sampleMs) + 1 },
    (_, index) => delayMs - index * limits.sampleMs,
  )
}

function describe({ waits }: Measured): string {
  return `event-loop delay p99.9 ${percentile(waits, 99.9).toFixed(1)} ms, longest ${percentile(waits, 100).toFixed(1)} ms`
}

function toTable(quiet: Measured, attacked: Measured): Table {
  const row = (name: string, pick: (measured: Measured) => readonly number[], percent: number) => [
    name,
    ...[quiet, attacked].map((measured) => percentile(pick(measured), percent).toFixed(1)),
  ]
  return {
    title: `Three users who try to stop the server, ${limits.attackMs / 1000} s, ${attacked.attacks} of their requests (ms)`,
    columns: ["", "alone", "under attack"],
    rows: [
      row("event-loop delay p99", ({ waits }) => waits, 99),
      row("event-loop delay p99.9", ({ waits }) => waits, 99.9),
      row("event-loop delay, longest", ({ waits }) => waits, 100),
      row("of it at work p99.9", ({ works }) => works, 99.9),
      row("of it at work, longest", ({ works }) => works, 100),
      row("another client's request p99.9", ({ asks }) => asks, 99.9),
      row("another client's request, longest", ({ asks }) => asks, 100),
    ],
  }
}
