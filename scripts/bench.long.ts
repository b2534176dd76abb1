import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { root } from "./setup/root.mjs"

/**
 * All but `packages` and `sockets`, which need the npm registry, and `pages`, `editor` and `typing`,
 * which need a browser: the suites of the web app open the same pages, and a browser takes more CPU
 * time than all of these together.
 */
const names = [
  "read",
  "save",
  "import",
  "memory",
  "start",
  "cold",
  "burst",
  "warm",
  "first-save",
  "traces",
  "val-memory",
  "neighbours",
  "nodes",
  "schedules",
  "egress",
  "storage",
  "libsql",
  "queue",
  "growth",
  "backup",
]
/** How the first table begins, where that is not the name. */
const titles: Readonly<Record<string, string>> = { growth: "SQLite: " }
/** How long one benchmark may take on a machine that has much else to do. */
const msMax = 240_000

/** The benchmarks run one after the other in one program, since many of them share a server. */
describe.skipIf(!Bun.which("bwrap"))("npm run bench: a benchmark still runs:", () => {
  let bench: ReturnType<typeof start>
  let output = ""
  let wake = () => {}
  let ended: Promise<string>

  beforeAll(() => {
    bench = start()
    ended = read()
  })
  afterAll(async () => {
    bench.kill("SIGTERM")
    await ended
  })

  async function read(): Promise<string> {
    const errors = new Response(bench.stderr).text()
    for await (const text of bench.stdout.pipeThrough(new TextDecoderStream())) {
      output += text
      wake()
    }
    return `${await bench.exited}\n${await errors}`
  }

  test.each(names)(
    "%s",
    async (name) => {
      const title = `**${titles[name] ?? `${name}: `}`
      while (!output.includes(title)) {
        const { promise, resolve } = Promise.withResolvers<undefined>()
        wake = () => resolve(undefined)
        const end = await Promise.race([promise, ended])
        if (end !== undefined && !output.includes(title)) throw new Error(end)
      }
    },
    msMax,
  )

  test("the program ends well", async () => expect(await ended).toStartWith("0\n"), msMax)
})

function start() {
  const { HAMLET_TEST_POSTGRES_URL: _, ...env } = process.env
  return Bun.spawn([process.execPath, "bench/main.ts", ...names, "--vals", "1000"], {
    cwd: root,
    env: { ...env, HAMLET_BENCH_BRIEF: "yes" },
    stdout: "pipe",
    stderr: "pipe",
  })
}
