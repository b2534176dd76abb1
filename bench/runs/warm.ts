import type { Benchmark, Context } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { toComparison } from "../harness/comparison.ts"
import { runLoad } from "../harness/load.ts"
import { atLeast, type Cell, type Table } from "../harness/report.ts"
import { takeTurns } from "../harness/stats.ts"
import { describePeers, ensurePeers } from "../peers/install.ts"
import { startBareProxy, startDenoHttpWorker, startWorkerLoader } from "../peers/start.ts"
import { type BenchVal, type Hamlet, startHamlet } from "./hamlet.ts"
import { requestNewPath, requestOnce } from "./request.ts"
import { helloCode, loggingCode } from "./vals.ts"

const limits = chooseLimits(
  { connections: 32, seconds: 4, rounds: 5, checkedRuns: 64 },
  { connections: 2, seconds: 0.05, rounds: 1, checkedRuns: 4 },
)
const ratiosMin = { worker: 3.5, loader: 4, proxy: 0.62, logging: 0.8 }

/** How many requests per second a running val can handle, each recorded as a run. */
export const warm: Benchmark = {
  name: "warm",
  isQuick: true,
  async run(context) {
    await ensurePeers(context.report)
    const hamlet = await startHamlet()
    const loader = await startWorkerLoader()
    const worker = await startDenoHttpWorker({ isNext: false })
    const proxy = await startBareProxy()
    try {
      const hello = await createVal(hamlet, "hello", helloCode)
      const logging = await createVal(hamlet, "logging", loggingCode)
      const rates = await measure({
        hello: toLoad(hamlet.program.url, "/", hello.host),
        logging: toLoad(hamlet.program.url, "/", logging.host),
        worker: toLoad(worker.url, (await requestNewPath(worker.url)).path),
        loader: toLoad(loader.url, (await requestNewPath(loader.url)).path),
        proxy: toLoad(proxy.url, (await requestNewPath(proxy.url)).path),
      })
      return [toTable(context, rates, hamlet.isolation)]
    } finally {
      for (const program of [hamlet, loader, worker, proxy]) await program.stop()
    }
  },
}

type Rates = Readonly<
  Record<"hello" | "logging" | "worker" | "loader" | "proxy", readonly number[]>
>

/** A val, after checking that each request becomes a run. */
async function createVal(hamlet: Hamlet, name: string, code: string): Promise<BenchVal> {
  const val = await hamlet.putVal(name, code)
  await Promise.all(
    Array.from({ length: limits.checkedRuns }, () =>
      requestOnce(hamlet.program.url, { host: val.host }),
    ),
  )
  await hamlet.assertRuns(val, limits.checkedRuns)
  return val
}

async function measure(
  loads: Readonly<Record<keyof Rates, () => Promise<number>>>,
): Promise<Rates> {
  await takeTurns(1, loads)
  return takeTurns(limits.rounds, loads)
}

function toLoad(url: string, path: string, host?: string): () => Promise<number> {
  return () =>
    runLoad({ url, host, paths: [path], connections: limits.connections, seconds: limits.seconds })
}

const bareProxy = "a bare Bun proxy to a plain `Deno.serve`"
const itself = "itself: one `console.log` a request with none"

function toTable(context: Context, rates: Rates, isolation: string): Table {
  const peers = describePeers()
  const compare = (
    name: string,
    a: readonly number[],
    b: readonly number[],
    ratioMin: number,
  ): Cell[] => toComparison(context, "warm", [name], { a, b }, (ratio) => atLeast(ratio, ratioMin))
  return {
    title: `warm: hello world, ${limits.connections} connections; Hamlet through its gateway, with ${isolation}, every request recorded`,
    columns: [
      "compared with",
      "Hamlet, 1/s",
      "the peer, 1/s",
      "ratio",
      "smallest – largest",
      "bar",
    ],
    rows: [
      compare(peers.worker, rates.hello, rates.worker, ratiosMin.worker),
      compare(peers.loader, rates.hello, rates.loader, ratiosMin.loader),
      compare(bareProxy, rates.hello, rates.proxy, ratiosMin.proxy),
      compare(itself, rates.logging, rates.hello, ratiosMin.logging),
    ],
  }
}
