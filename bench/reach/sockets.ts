import { createServer, type Server, type Socket } from "node:net"
import { join } from "node:path"
import { findDeno } from "../../scripts/find-deno.ts"
import type { Benchmark } from "../harness/benchmark.ts"
import { toComparison } from "../harness/comparison.ts"
import { atLeast, type Cell } from "../harness/report.ts"
import { createScratchFolder } from "../harness/scratch.ts"
import { alternate } from "../harness/stats.ts"
import { type BenchVal, type Hamlet, startHamlet } from "../runs/hamlet.ts"
import { askVal } from "./egress.ts"
import { socketCode, socketProgram } from "./measuring-code.ts"

const limits = { rounds: 5, bytes: 100 * 1024 ** 2, queryRatioMin: 0.6, bytesRatioMin: 0.3 }

/** What is measured: its title, how often it is done per second, and the bar. */
const measures = [
  { name: "query", title: "`select 1` with pg, 1/s", per: 1, ratioMin: limits.queryRatioMin },
  {
    name: "down",
    title: "100 MB from a server, MB/s",
    per: limits.bytes / 1024 ** 2,
    ratioMin: limits.bytesRatioMin,
  },
  {
    name: "up",
    title: "100 MB to a server, MB/s",
    per: limits.bytes / 1024 ** 2,
    ratioMin: limits.bytesRatioMin,
  },
] as const

/** The cost of the egress proxy for the TCP connections of a val. */
export const sockets: Benchmark = {
  name: "sockets",
  isQuick: true,
  async run(context) {
    const { postgresUrl } = context
    const server = createServer(serve)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const postgres = postgresUrl === undefined ? undefined : new URL(postgresUrl)
    const ports = [portOf(server), ...(postgres ? [Number(postgres.port)] : [])]
    const hamlet = await startHamlet({
      HAMLET_EGRESS_ALLOW: ports.map((port) => `localhost:${port}`).join(","),
      HAMLET_EGRESS_MB_PER_MINUTE: "none",
    })
    try {
      const val = await hamlet.putVal("connects", socketCode)
      const program = await writeProgram()
      const rows: Cell[][] = []
      for (const { name, title, per, ratioMin } of measures) {
        if (name === "query" && !postgres) continue
        const address = name === "query" ? toLocalhost(postgres) : `localhost:${portOf(server)}`
        const query = new URLSearchParams({ what: name, address, bytes: String(limits.bytes) })
        const inVal = () => askRate(hamlet, val, query)
        const inDeno = () => runPlain(program, query)
        await alternate(1, inVal, inDeno)
        const rates = await alternate(limits.rounds, inVal, inDeno)
        const scaled = {
          a: rates.a.map((rate) => rate * per),
          b: rates.b.map((rate) => rate * per),
        }
        const toBar = (ratio: number) => atLeast(ratio, ratioMin)
        rows.push(toComparison(context, "sockets", [title], scaled, toBar))
      }
      return [
        {
          title: `sockets: TCP connections to servers on this machine, in a val with ${hamlet.isolation} and in plain Deno`,
          columns: ["", "val", "plain Deno", "ratio", "smallest – largest", "bar"],
          rows,
        },
      ]
    } finally {
      await hamlet.stop()
      server.close()
    }
  },
}

/** Sends many bytes to a client that asks for them, or receives as many. */
function serve(socket: Socket): void {
  const part = Buffer.alloc(65_536)
  socket.on("error", () => socket.destroy())
  socket.once("data", (bytes) => {
    let left = limits.bytes
    if (bytes.toString() === "down") {
      const pour = () => {
        for (; left > 0; left -= part.length)
          if (!socket.write(part)) {
            left -= part.length
            return void socket.once("drain", pour)
          }
        socket.end()
      }
      return pour()
    }
    left -= bytes.length
    socket.on("data", ({ length }) => {
      left -= length
      if (left <= 0) socket.end("done")
    })
  })
}

function portOf(server: Server): number {
  return (server.address() as { readonly port: number }).port
}

function toLocalhost(url: URL | undefined): string {
  const local = new URL(url ?? "")
  local.hostname = "localhost"
  return local.href
}

async function writeProgram(): Promise<string> {
  const program = join(createScratchFolder(), "connects.ts")
  await Bun.write(program, socketProgram)
  return program
}

async function askRate(hamlet: Hamlet, val: BenchVal, query: URLSearchParams): Promise<number> {
  return (await askVal(hamlet, val, `/?${query}`)).rate
}

async function runPlain(program: string, query: URLSearchParams): Promise<number> {
  const flags = ["--quiet", "--no-config", "--no-lock", "--allow-all"]
  const child = Bun.spawn([findDeno(), "run", ...flags, program, query.toString()], {
    // The rest is how this machine reaches the registry, from which Deno fetches pg once.
    env: { ...process.env, DENO_DIR: join(program, "../deno"), DENO_NO_UPDATE_CHECK: "1" },
    stdout: "pipe",
  })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error("Cannot measure: plain Deno has failed")
  return (JSON.parse(text) as { readonly rate: number }).rate
}
