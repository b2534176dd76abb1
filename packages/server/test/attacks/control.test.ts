import { expect } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Forgery, ignoredForgeries, refusedForgeries } from "./probes/forgeries.ts"
import { holdRun, toHoldingCode } from "./support/live-run.ts"
import { readResidentBytes } from "./support/processes.ts"
import { describeVillage, probe } from "./support/test-village.ts"
import type { SavedVal, Village } from "./support/village.ts"

/** Reaches for the socket that the guest talks to the host with, as any val could. */
const reachControl = `const socket = new Deno.FsFile(3, Symbol.for("Deno.internal.FsFile"))
  const say = async (said) => {
    const bytes = typeof said === "string" ? new TextEncoder().encode(said) : said
    for (let sent = 0; sent < bytes.length; ) sent += await socket.write(bytes.subarray(sent, sent + 65536))
  }
  const victim = url.searchParams.get("victim")
  const own = url.searchParams.get("own")`

/** With a waiting val the host's reaction is waited for, however long it takes. */
function toForger({ bytes, ends }: Pick<Forgery, "bytes" | "ends">): string {
  return toHoldingCode(`${reachControl}
  await say(${bytes})
  ${ends ? "await new Promise(() => {})" : 'return new Response("said")'}`)
}

let count = 0

async function forge(village: Village, forgery: Forgery, victim: SavedVal): Promise<void> {
  const { mallory } = village
  const forger = await village.save(mallory, { code: toForger(forgery) })
  const name = `n${++count}`
  const [live, own] = await Promise.all([
    holdRun(village, victim, name),
    holdRun(village, forger, "own"),
  ])

  const answer = await village.visit(forger, { path: `/forge?victim=${live.id}&own=${own.id}` })

  if (forgery.ends) {
    expect(answer.status).toBe(502)
    const { status, error } = await village.runOf(answer, mallory)
    expect(`${status} ${error?.name}: ${error?.message}`).toMatch(forgery.ends)
  } else {
    expect(`${answer.status} ${answer.text}`).toBe("200 said")
    // The channel still works, and the val is as it was.
    const { status, logs } = await own.end()
    expect([status, logs.map(({ message }: { message: string }) => message)]).toEqual([
      "succeeded",
      ["begin own", "end own"],
    ])
  }
  const untouched = await live.end()
  expect(untouched).toMatchObject({ status: "succeeded", error: null, logsTruncated: false })
  expect(untouched.logs.map(({ message }: { message: string }) => message)).toEqual([
    `begin ${name}`,
    `end ${name}`,
  ])
  const me = await village.call("GET", "/v1/me", { as: village.ada })
  expect(me.text).not.toContain("polluted")
}

describeVillage(
  "what a val tries on the control socket",
  { HAMLET_RUN_SECONDS_MAX: "20" },
  (village) => {
    let victim: Promise<SavedVal> | undefined
    let residentBytes: number | undefined
    const getVictim = () => {
      residentBytes ??= readResidentBytes(village().hamlet.pid)
      victim ??= village().save(village().ada, { name: "victim", code: toHoldingCode() })
      return victim
    }

    for (const forgery of [...ignoredForgeries, ...refusedForgeries])
      probe(village, `a val tries ${forgery.tries}`, async (place) =>
        forge(place, forgery, await getVictim()),
      )

    probe(
      village,
      "a val tries to write logs of its own with every character and time there is",
      async (place) => {
        const texts = [
          "\0",
          "\u{1b}[2J\u{1b}]0;forged\u{7}",
          "\ud800",
          "<script>alert(1)</script>",
          "\u2028\u2029",
          "x".repeat(200_000),
        ]
        const bytes = `${JSON.stringify(texts)}.flatMap((message) => [-8.64e15, 0.5, 8.64e15].map((at) => JSON.stringify({ kind: "log", run: own, at, level: "log", message }) + "\\n")).join("")`
        const forger = await place.save(place.mallory, { code: toForger({ bytes }) })
        const own = await holdRun(place, forger, "own")
        expect((await place.visit(forger, { path: `/forge?own=${own.id}` })).text).toBe("said")
        const { status, logs } = await own.end()
        expect(status).toBe("succeeded")
        // Kept within their limit, like logs that came by the right way.
        expect(Buffer.byteLength(JSON.stringify(logs))).toBeLessThan(200_000)
        const listed = await place.call("GET", `/v1/vals/${forger.id}/runs`, { as: place.mallory })
        expect(listed.status).toBe(200)
      },
    )

    probe(village, "a val tries to close the control socket", async (place) => {
      const forger = await place.save(place.mallory, {
        code: toHoldingCode(`${reachControl}
  if (url.pathname === "/close") { socket.close(); await new Promise(() => {}) }
  return new Response("alive")`),
      })
      const answer = await place.visit(forger, { path: "/close" })
      expect(answer.status).toBe(502)
      expect((await place.runOf(answer, place.mallory)).status).toBe("crashed")
      // The next one gets a process that is whole.
      expect((await place.visit(forger, { path: "/next" })).text).toBe("alive")
    })

    probe(
      village,
      "a val tries to answer a WebSocket with headers that split the answer",
      async (place) => {
        const forger = await place.save(place.mallory, {
          code: toHoldingCode(`${reachControl}
  return new Response("no socket", { status: 403, headers: { "x-own": "1" } })`),
        })
        const upgrade = {
          upgrade: "websocket",
          connection: "Upgrade",
          "sec-websocket-version": "13",
          "sec-websocket-key": "MDEyMzQ1Njc4OWFiY2RlZg==",
        }
        const answer = await place.visit(forger, { headers: upgrade })
        expect([answer.status, answer.text]).toEqual([403, "no socket"])
      },
    )

    probe(
      village,
      "somebody tries to connect to a control socket after the guest has",
      async (place) => {
        const { folder } = await place.sandboxOf(place.neighbour)
        expect(existsSync(join(folder, "run", "control.sock"))).toBe(false)
      },
    )

    probe(village, "all of these together try to fill the memory of the server", async (place) => {
      await getVictim()
      await place.expectUnharmed()
      expect(readResidentBytes(place.hamlet.pid) - (residentBytes ?? 0)).toBeLessThan(
        100 * 1024 ** 2,
      )
    })
  },
)
