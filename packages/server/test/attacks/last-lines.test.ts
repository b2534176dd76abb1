import { expect } from "bun:test"
import { waitUntil } from "../support/wait-until.ts"
import type { RunRecord } from "./support/attack-server.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"

/** Never returns, as a loop does, and takes no CPU time. */
const block = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)"

/** Ways in which a val never returns to its event loop, with the outcome of its run. */
const endings: readonly {
  readonly does: string
  readonly code: string
  readonly ends: string
}[] = [
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

// Several vals start at once on two cores, and each of them has to before its time is over.
const env = { HAMLET_RUN_SECONDS_MAX: "20" }

describeAttacks("attacks/last-lines", env, (getServer) => {
  for (const { does, code, ends } of endings)
    probe(getServer, `a val logs 1,000 lines at once and then ${does}`, async (server) => {
      const val = await server.save(server.mallory, {
        code: `export default () => {\n${toCode(code, counts.many)}\n}`,
      })
      const id = (await server.request(val)).headers.get("x-run-id") ?? ""
      const run = await server.loggedRun(id, server.mallory, counts.many)
      expect([run.status, messagesOf(run)]).toEqual([ends, toLines(counts.many)])
    })

  probe(getServer, "a val logs, loops and is cancelled", async (server) => {
    const val = await server.save(server.mallory, {
      type: "script",
      code: `export default () => {\n${toCode("while (true) {}")}\n}`,
    })
    const as = server.mallory
    const started = server.call("POST", `/v1/vals/${val.id}/runs`, { as, body: {} })
    const id = await waitUntil(async () => {
      const { json } = await server.call("GET", `/v1/vals/${val.id}/runs`, { as })
      return json.data[0]?.id as string | undefined
    })
    // The lines arrive while it loops, not only at its end.
    await waitUntil(async () => {
      const { json } = await server.call("GET", `/v1/runs/${id}`, { as })
      return json.logs?.length === lines.length
    })
    await server.call("POST", `/v1/runs/${id}/cancel`, { as })
    await started
    const run = await server.endedRun(id, as)
    expect([run.status, messagesOf(run)]).toEqual(["cancelled", lines])
  })

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
