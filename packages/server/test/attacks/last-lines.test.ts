import { expect } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import type { AttackServer, RunRecord } from "./support/attack-server.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"

/** Never returns, as a loop does, and takes no CPU time. */
const block = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)"

/** A way in which a val never returns to its event loop, with the outcome of its run. */
interface Ending {
  readonly does: string
  readonly code: string
  readonly ends: string
}

const endings: readonly Ending[] = [
  { does: "blocks until its time is over", code: block, ends: "timed_out" },
  { does: "throws", code: `throw new Error("over")`, ends: "failed" },
  { does: "exits", code: "Deno.exit(3)", ends: "failed" },
  {
    does: "exits, catches the error and blocks",
    code: `try { Deno.exit(3) } catch {}\n ${block}`,
    ends: "timed_out",
  },
  {
    does: "fills its heap",
    code: "const all: unknown[] = []; for (;;) all.push(new Array(100_000).fill(0))",
    ends: "crashed",
  },
  {
    does: "fills the memory of its sandbox",
    code: "const all: unknown[] = []; for (;;) all.push(new Uint8Array(4_000_000).fill(1))",
    ends: "crashed",
  },
]

/** Few lines fit into one message to the server; many do not. */
const counts = { few: 60, many: 1_000 }
const toLines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`)
/** Logs the lines, the last one as an error, and then blocks or ends. */
const toCode = (end: string, count = counts.few) =>
  `for (let line = 1; line < ${count}; line += 1) console.log("line", line)\nconsole.error("line ${count}")\n${end}`
const lines = toLines(counts.few)

const messagesOf = (run: RunRecord): string[] =>
  run.logs.map(({ message }: { readonly message: string }) => message)

const probeEnding = (getServer: () => AttackServer, { does, code, ends }: Ending) =>
  probe(getServer, `a val logs 1,000 lines at once and then ${does}`, async (server) => {
    const val = await server.save(server.mallory, {
      code: `export default () => {\n${toCode(code, counts.many)}\n}`,
    })
    const id = (await server.request(val)).headers.get("x-run-id") ?? ""
    const run = await server.loggedRun(id, server.mallory, counts.many)
    expect([run.status, messagesOf(run)]).toEqual([ends, toLines(counts.many)])
  })

/** Filling the memory takes long on a busy machine. */
const ample = { HAMLET_RUN_SECONDS_MAX: "150", HAMLET_VAL_CPU_SECONDS_MAX: "60" }

describeAttacks("attacks/last-lines", ample, (getServer) => {
  for (const ending of endings.filter(({ ends }) => ends !== "timed_out"))
    probeEnding(getServer, ending)

  probe(getServer, "a val logs, loops and is cancelled", async (server) => {
    const val = await server.save(server.mallory, {
      type: "script",
      code: `export default () => {\n${toCode("while (true) {}")}\n}`,
    })
    const as = server.mallory
    const started = server.call("POST", `/v1/vals/${val.id}/runs`, { as, body: {} })
    // The lines arrive while it loops, not only at its end. It is the latest run: one for which the
    // machine was too busy to start a process is there, too.
    const id = await waitUntil(async () => {
      const { json } = await server.call("GET", `/v1/vals/${val.id}/runs`, { as })
      const latest: string | undefined = json.data[0]?.id
      const run = latest && (await server.call("GET", `/v1/runs/${latest}`, { as })).json
      return run?.logs?.length === lines.length && latest
    })
    await server.call("POST", `/v1/runs/${id}/cancel`, { as })
    await started
    const run = await server.endedRun(id, as)
    expect([run.status, messagesOf(run)]).toEqual(["cancelled", lines])
  })
})

// Several vals start at once on two cores, and each of them has to before its time is over.
const short = { HAMLET_RUN_SECONDS_MAX: "20" }

describeAttacks("attacks/last-lines of runs whose time is over", short, (getServer) => {
  for (const ending of endings.filter(({ ends }) => ends === "timed_out"))
    probeEnding(getServer, ending)

  probe(getServer, "code of POST /v1/eval logs and blocks", async (server) => {
    const as = server.mallory
    const response = await server.call("POST", "/v1/eval", {
      as,
      body: { code: toCode(block) },
    })
    expect(response.json.code).toBe("run_timed_out")
    const run = await server.endedRun(response.json.runId, as)
    expect([run.status, messagesOf(run)]).toEqual(["timed_out", lines])
  })
})
