import { expect } from "bun:test"
import { holdRun, toHoldingCode } from "./support/live-run.ts"
import { describeVillage, probe } from "./support/test-village.ts"
import type { Village } from "./support/village.ts"
import { waitFor } from "./support/wait.ts"

/**
 * What a val does when its answer is long over, while another run of it goes on in the same
 * process.
 */
const deeds: readonly {
  readonly tries: string
  readonly code: string
  readonly error: RegExp | undefined
}[] = [
  {
    tries: "to throw",
    code: `setTimeout(() => { throw new Error("late") }, 20)`,
    error: /^Error: late$/,
  },
  {
    tries: "to reject",
    code: `setTimeout(() => Promise.reject(new Error("late")), 20)`,
    error: /^Error: late$/,
  },
  {
    tries: "to exit",
    code: `setTimeout(() => Deno.exit(3), 20)`,
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

const messagesOf = (run: { readonly logs: readonly { readonly message: string }[] }) =>
  run.logs.map(({ message }) => message)

describeVillage(
  "what a val tries after the end of its answer",
  { HAMLET_RUN_SECONDS_MAX: "3" },
  (village) => {
    for (const { tries, code, error } of deeds)
      probe(village, `a val tries ${tries} when it has answered`, async (place: Village) => {
        const val = await place.save(place.mallory, {
          code: toHoldingCode(`${code}\n  return new Response("fine")`),
        })
        const other = await holdRun(place, val, "other")
        const answer = await place.visit(val, { path: "/deed", method: "POST", body: "sent" })
        expect(`${answer.status} ${answer.text}`).toBe("200 fine")
        const id = answer.headers.get("x-run-id") ?? ""
        if (error) {
          const run = await waitFor(async () => {
            const ended = await place.endedRun(id, place.mallory)
            return ended.error ? ended : undefined
          })
          expect([run.status, `${run.error.name}: ${run.error.message}`]).toEqual([
            "failed",
            expect.stringMatching(error),
          ])
        }
        // It is the other run that would notice if it were taken for the one that is over.
        const untouched = await other.end()
        expect([untouched.status, untouched.error, messagesOf(untouched)]).toEqual([
          "succeeded",
          null,
          ["begin other", "end other"],
        ])
        expect((await place.visit(val, { path: "/deed" })).text).toBe("fine")
      })

    probe(
      village,
      "a val tries to log for ever, and is heard no longer than a run may last",
      async (place) => {
        const val = await place.save(place.mallory, {
          code: `export default () => { setInterval(() => console.log("still here"), 50); return "fine" }`,
        })
        const answer = await place.visit(val)
        const id = answer.headers.get("x-run-id") ?? ""
        const early = await place.loggedRun(id, place.mallory, 3)
        expect(early.status).toBe("succeeded")
        const before = await waitForSilence(
          async () => (await place.endedRun(id, place.mallory)).logs.length,
        )
        // A run that begins when the time of the first one is over has no share in its words, nor
        // the first in its own.
        const next = await place.visit(val)
        await place.loggedRun(next.headers.get("x-run-id") ?? "", place.mallory, 3)
        expect((await place.endedRun(id, place.mallory)).logs.length).toBe(before)
      },
    )

    probe(village, "a val tries to go on writing to somebody who has gone", async (place) => {
      const val = await place.save(place.mallory, {
        code: `let written = 0
export default (request) => {
  if (new URL(request.url).pathname === "/written") return String(written)
  return new Response(new ReadableStream({ start(controller) { setInterval(() => { try { controller.enqueue(new Uint8Array(100_000)); written++ } catch {} }, 5) } }))
}`,
      })
      const response = await place.open(val)
      await response.body?.cancel()
      const { status } = await place.endedRun(response.headers.get("x-run-id") ?? "", place.mallory)
      expect(status).toBe("succeeded")
      expect((await place.visit(val, { path: "/written" })).status).toBe(200)
    })
  },
)

/** Several times as long as it takes until a new line is in the record. */
const silentLooks = 50

/** What a number is that does not change any more. */
function waitForSilence(read: () => Promise<number>): Promise<number> {
  let last = Number.NaN
  let looks = 0
  return waitFor(async () => {
    const now = await read()
    looks = now === last ? looks + 1 : 0
    last = now
    return looks >= silentLooks ? now : undefined
  })
}
