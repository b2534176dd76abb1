import type { Benchmark } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { residentMbOf } from "../harness/process-tree.ts"
import { atMost, type Table } from "../harness/report.ts"
import { median, percentile, ratioOf } from "../harness/stats.ts"
import { type BenchVal, type Hamlet, startOwnHamlet } from "./hamlet.ts"
import { requestOnce, timeOf } from "./request.ts"
import { abusers, helloCode } from "./vals.ts"

const limits = chooseLimits(
  {
    rounds: 3,
    quietMs: 10_000,
    noisyMs: 20_000,
    pauseMs: 5,
    /**
     * An abusing val that has ended is requested again after this time, as by users who reload.
     */
    restartMs: 250,
    runSecondsMax: 10,
    ratioMax: 2,
    growthMbMax: 100,
    kinds: abusers.length,
    abusersOfKindMax: 4,
  },
  // One that loops and one that takes memory: each works until its time is over.
  { rounds: 1, quietMs: 100, noisyMs: 300, runSecondsMax: 1, kinds: 2, abusersOfKindMax: 1 },
)

/**
 * Whether other vals slow a val down: its slowest responses alone, and beside vals that use all
 * resources they can get.
 */
export const neighbours: Benchmark = {
  name: "neighbours",
  isQuick: false,
  async run(context) {
    const rounds: Round[] = []
    for (let round = 0; round < limits.rounds; round++) {
      const measured = await measure()
      rounds.push(measured)
      const [alone, beside] = [measured.quiet, measured.noisy].map((times) =>
        percentile(times, 99).toFixed(1),
      )
      context.report(
        `neighbours: p99 ${alone} ms alone, ${beside} ms beside ${measured.deaths} deaths`,
      )
    }
    return toTables(rounds)
  },
}

interface Round {
  readonly quiet: readonly number[]
  readonly noisy: readonly number[]
  readonly deaths: number
  readonly memory: { readonly beforeMb: number; readonly mostMb: number }
  readonly isolation: string
}

/**
 * A new server for each round: loops continue for a while after their clients have gone, and would
 * slow down a val that is measured alone.
 */
async function measure(): Promise<Round> {
  const hamlet = await startOwnHamlet({ HAMLET_RUN_SECONDS_MAX: String(limits.runSecondsMax) })
  try {
    const normal = await hamlet.putVal("normal", helloCode)
    const abusing = await createAbusers(hamlet)
    await askFor(hamlet, normal, limits.quietMs)
    const memory = watchMemory(hamlet.program.pid)
    const quiet = await askFor(hamlet, normal, limits.quietMs)
    const abuse = startAbuse(hamlet, abusing)
    const noisy = await askFor(hamlet, normal, limits.noisyMs)
    const deaths = await abuse.stop()
    return { quiet, noisy, deaths, memory: memory.stop(), isolation: hamlet.isolation }
  } finally {
    await hamlet.stop()
  }
}

async function createAbusers(hamlet: Hamlet): Promise<readonly BenchVal[]> {
  const codes = abusers
    .slice(0, limits.kinds)
    .flatMap(({ name, count, code }) =>
      Array.from(
        { length: Math.min(count, limits.abusersOfKindMax) },
        (_, index) => [`${name}${index}`, code] as const,
      ),
    )
  return Promise.all(codes.map(([name, code]) => hamlet.putVal(name, code)))
}

/**
 * One client with one connection that sends a request, waits a little, and repeats. Every response
 * must be right.
 */
async function askFor(hamlet: Hamlet, { host }: BenchVal, ms: number): Promise<readonly number[]> {
  const times: number[] = []
  const end = performance.now() + ms
  while (performance.now() < end) {
    times.push(await timeOf(() => requestOnce(hamlet.program.url, { host })))
    await Bun.sleep(limits.pauseMs)
  }
  return times
}

/**
 * Keeps every abusing val running until it is stopped, and restarts those that end. Stopping returns
 * how many have ended.
 */
function startAbuse(hamlet: Hamlet, vals: readonly BenchVal[]): { stop(): Promise<number> } {
  const abort = new AbortController()
  let deaths = 0
  const keepRunning = async ({ host }: BenchVal) => {
    while (!abort.signal.aborted) {
      try {
        await (
          await fetch(hamlet.program.url, { headers: { host }, signal: abort.signal })
        ).body?.cancel()
      } catch {
        // Such a val may end with a connection that is cut off.
      }
      if (abort.signal.aborted) return
      deaths += 1
      await Bun.sleep(limits.restartMs)
    }
  }
  const all = vals.map(keepRunning)
  return {
    async stop() {
      abort.abort()
      await Promise.all(all)
      return deaths
    },
  }
}

/** The peak memory of the server itself, and its memory before. */
function watchMemory(pid: number): {
  stop(): { readonly beforeMb: number; readonly mostMb: number }
} {
  const beforeMb = residentMbOf(pid)
  let mostMb = beforeMb
  const timer = setInterval(() => {
    mostMb = Math.max(mostMb, residentMbOf(pid))
  }, limits.restartMs)
  return {
    stop() {
      clearInterval(timer)
      return { beforeMb, mostMb }
    },
  }
}

function toTables(rounds: readonly Round[]): readonly Table[] {
  const { isolation } = rounds[0] as Round
  const count = abusers.reduce((sum, abuser) => sum + abuser.count, 0)
  const kinds = abusers.map(({ name, count }) => `${count} ${name}`).join(", ")
  const deaths = rounds.reduce((sum, round) => sum + round.deaths, 0)
  const row = (percent: number, toBar: (ratio: number) => ReturnType<typeof atMost> | "") => {
    const [a, b] = [
      rounds.map(({ noisy }) => percentile(noisy, percent)),
      rounds.map(({ quiet }) => percentile(quiet, percent)),
    ]
    const { ratio, spread } = ratioOf({ a, b })
    return [
      `p${percent}`,
      median(b).toFixed(2),
      median(a).toFixed(2),
      ratio.toFixed(2),
      spread,
      toBar(ratio),
    ]
  }
  const [beforeMb, mostMb] = [
    median(rounds.map(({ memory }) => memory.beforeMb)),
    Math.max(...rounds.map(({ memory }) => memory.mostMb)),
  ]
  const growthMb = Math.max(...rounds.map(({ memory }) => memory.mostMb - memory.beforeMb))
  return [
    {
      title: `neighbours: responses of a val alone and beside ${count} abusing vals (${kinds}), with ${isolation}`,
      columns: ["", "alone, ms", "beside them, ms", "ratio", "smallest – largest", "bar"],
      rows: [row(50, () => ""), row(99, (ratio) => atMost(ratio, limits.ratioMax))],
    },
    {
      title: `neighbours: resident memory of the server meanwhile, while abusing vals ended and were requested again ${deaths} times`,
      columns: ["before", "at most", "growth", "bar"],
      rows: [
        [
          `${beforeMb.toFixed(0)} MB`,
          `${mostMb.toFixed(0)} MB`,
          `${growthMb.toFixed(0)} MB`,
          atMost(growthMb, limits.growthMbMax, " MB"),
        ],
      ],
    },
  ]
}
