import { expect } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import type { AttackServer } from "./support/attack-server.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { holdRun, toHoldingCode } from "./support/live-run.ts"

/**
 * What a val does when its answer is long over, while another run of it goes on in the same
 * process.
 */
const attempts: readonly {
  readonly tries: string
  readonly code: string
  readonly error: RegExp | undefined
}[] = [
  {
    tries: "to throw",
    code: `setTimeout(() => { throw new Error("late") }, 500)`,
    error: /^Error: late$/,
  },
  {
    tries: "to reject",
    code: `setTimeout(() => Promise.reject(new Error("late")), 500)`,
    error: /^Error: late$/,
  },
  {
    tries: "to exit",
    code: `setTimeout(() => Deno.exit(3), 500)`,
    error: /^Error: Cannot exit with code 3/,
  },
  {
    tries: "to answer again",
    code: `setTimeout(() => { try { request.respondWith?.(new Response("FORGED")) } catch {} }, 20)`,
    error: undefined,
  },
  {
    tries: "to upgrade what it has answered",
    code: `setTimeout(() => { try { Deno.upgradeWebSocket(request) } catch {} }, 20)`,
    error: undefined,
  },
  {
    tries: "to read what it was sent",
    code: `setTimeout(() => { request.text().catch(() => {}) }, 20)`,
    error: undefined,
  },
  {
    tries: "to change what it has answered",
    code: `const response = new Response("fine"); setTimeout(() => { try { response.headers.set("x-late", "FORGED") } catch {} }, 20); return response`,
    error: undefined,
  },
]

const runSecondsMax = 10
const env = {
  HAMLET_RUN_SECONDS_MAX: String(runSecondsMax),
  // Otherwise a val that logs for ever would end with its process.
  HAMLET_IDLE_SECONDS: "300",
}

const messagesOf = (run: { readonly logs: readonly { readonly message: string }[] }) =>
  run.logs.map(({ message }) => message)

describeAttacks("attacks/after-response", env, (getServer) => {
  for (const { tries, code, error } of attempts)
    probe(getServer, `a val tries ${tries} after its response`, async (server: AttackServer) => {
      const val = await server.save(server.mallory, {
        code: toHoldingCode(`${code}\n  return new Response("fine")`),
      })
      const other = await holdRun(server, val, "other")
      const answer = await server.request(val, {
        path: "/attempt",
        method: "POST",
        body: "sent",
      })
      expect(`${answer.status} ${answer.text}`).toBe("200 fine")
      const id = answer.headers.get("x-run-id") ?? ""
      if (error) {
        const run = await waitUntil(async () => {
          const ended = await server.endedRun(id, server.mallory)
          return ended.error ? ended : undefined
        })
        expect([run.status, `${run.error.name}: ${run.error.message}`]).toEqual([
          "failed",
          expect.stringMatching(error),
        ])
      }
      // The other run would notice if it were taken for the one that has ended.
      const untouched = await other.end()
      expect([untouched.status, untouched.error, messagesOf(untouched)]).toEqual([
        "succeeded",
        null,
        ["begin other", "end other"],
      ])
      expect((await server.request(val, { path: "/attempt" })).text).toBe("fine")
    })

  probe(
    getServer,
    "a val tries to log for ever, and its logs are read no longer than a run may last",
    async (server) => {
      const val = await server.save(server.mallory, {
        code: `export default () => { setInterval(() => console.log("still here"), 50); return "fine" }`,
      })
      /** A run with lines of its own; what was logged before them is in the records then. */
      const logAgain = async () => {
        const id = (await server.request(val)).headers.get("x-run-id") ?? ""
        return server.loggedRun(id, server.mallory, 3)
      }
      const { id, status } = await logAgain()
      expect(status).toBe("succeeded")
      const begunMs = performance.now()
      await waitUntil(async () => performance.now() - begunMs > runSecondsMax * 1000)
      const countLines = async () => (await server.endedRun(id, server.mallory)).logs.length
      // A run that begins when the time of the first one is over has no share in its words, nor
      // the first in its own.
      await logAgain()
      const before = await countLines()
      await logAgain()
      expect(await countLines()).toBe(before)
    },
  )

  probe(getServer, "a val tries to go on writing to somebody who has gone", async (server) => {
    const val = await server.save(server.mallory, {
      code: `let written = 0
export default (request) => {
  if (new URL(request.url).pathname === "/written") return String(written)
  return new Response(new ReadableStream({ start(controller) { setInterval(() => { try { controller.enqueue(new Uint8Array(100_000)); written++ } catch {} }, 5) } }))
}`,
    })
    const response = await server.fetchVal(val)
    await response.body?.cancel()
    const { status } = await server.endedRun(response.headers.get("x-run-id") ?? "", server.mallory)
    expect(status).toBe("succeeded")
    expect((await server.request(val, { path: "/written" })).status).toBe(200)
  })
})
