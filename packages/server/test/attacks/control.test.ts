import { expect } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Forgery, ignoredForgeries, refusedForgeries } from "./probes/forgeries.ts"
import type { AttackServer, SavedVal } from "./support/attack-server.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { holdRun, toHoldingCode } from "./support/live-run.ts"
import { readResidentBytes } from "./support/processes.ts"

/** Reaches for the socket that the guest talks to the host with, as any val could. */
const reachControl = `const socket = new Deno.FsFile(3, Symbol.for("Deno.internal.FsFile"))
  const say = async (said) => {
    const bytes = typeof said === "string" ? new TextEncoder().encode(said) : said
    for (let sent = 0; sent < bytes.length; ) sent += await socket.write(bytes.subarray(sent, sent + 65536))
  }
  const victim = url.searchParams.get("victim")
  const own = url.searchParams.get("own")`

/**
 * A val that says what the number in its query stands for. With a waiting val the host's reaction is
 * waited for, however long it takes.
 */
function toForger(forgeries: readonly Pick<Forgery, "bytes" | "ends">[]): string {
  return toHoldingCode(`${reachControl}
  const forgeries = [${forgeries.map(({ bytes }) => `() => (${bytes})`).join(", ")}]
  await say(forgeries[Number(url.searchParams.get("index"))]())
  ${forgeries[0]?.ends ? "await new Promise(() => {})" : 'return new Response("said")'}`)
}

let count = 0

async function forge(
  server: AttackServer,
  forgery: Forgery,
  victim: SavedVal,
  forger: SavedVal,
  index: number,
): Promise<void> {
  const { mallory } = server
  const name = `n${++count}`
  const [live, own] = await Promise.all([
    holdRun(server, victim, name),
    holdRun(server, forger, name),
  ])

  const path = `/forge?victim=${live.id}&own=${own.id}&index=${index}`
  const response = await server.request(forger, { path })

  if (forgery.ends) {
    expect(response.status).toBe(502)
    const { status, error } = await server.runOf(response, mallory)
    expect(`${status} ${error?.name}: ${error?.message}`).toMatch(forgery.ends)
  } else {
    expect(`${response.status} ${response.text}`).toBe("200 said")
    // The channel still works, and the val is as it was.
    const { status, logs } = await own.end()
    expect([status, logs.map(({ message }: { message: string }) => message)]).toEqual([
      "succeeded",
      [`begin ${name}`, `end ${name}`],
    ])
  }
  const untouched = await live.end()
  expect(untouched).toMatchObject({ status: "succeeded", error: null, logsTruncated: false })
  expect(untouched.logs.map(({ message }: { message: string }) => message)).toEqual([
    `begin ${name}`,
    `end ${name}`,
  ])
  const me = await server.call("GET", "/v1/me", { as: server.ada })
  expect(me.text).not.toContain("polluted")
}

describeAttacks("attacks/control socket", { HAMLET_RUN_SECONDS_MAX: "20" }, (getServer) => {
  let victim: Promise<SavedVal> | undefined
  let residentBytes: number | undefined
  const getVictim = () => {
    residentBytes ??= readResidentBytes(getServer().hamlet.pid)
    victim ??= getServer().save(getServer().ada, { name: "victim", code: toHoldingCode() })
    return victim
  }

  /** Defines a test for each of the forgeries of one val. */
  const probeForgeries = (forgeries: readonly Forgery[]) => {
    let saving: Promise<SavedVal> | undefined
    for (const [index, forgery] of forgeries.entries())
      probe(getServer, `a val tries ${forgery.tries}`, async (server) => {
        saving ??= server.save(server.mallory, { code: toForger(forgeries) })
        await forge(server, forgery, await getVictim(), await saving, index)
      })
  }
  const isFlood = ({ bytes }: Forgery) => bytes.includes(".repeat(")
  probeForgeries(ignoredForgeries.filter((forgery) => !isFlood(forgery)))
  // The process is not the same after one of these, or is gone.
  for (const alone of [...ignoredForgeries.filter(isFlood), ...refusedForgeries])
    probeForgeries([alone])

  probe(
    getServer,
    "a val tries to write logs of its own with every character and time there is",
    async (server) => {
      const texts = [
        "\0",
        "\u{1b}[2J\u{1b}]0;forged\u{7}",
        "\ud800",
        "<script>alert(1)</script>",
        "\u2028\u2029",
        "x".repeat(200_000),
      ]
      const bytes = `${JSON.stringify(texts)}.flatMap((message) => [-8.64e15, 0.5, 8.64e15].map((at) => JSON.stringify({ kind: "log", run: own, at, level: "log", message }) + "\\n")).join("")`
      const forger = await server.save(server.mallory, { code: toForger([{ bytes }]) })
      const own = await holdRun(server, forger, "own")
      const path = `/forge?own=${own.id}&index=0`
      expect((await server.request(forger, { path })).text).toBe("said")
      const { status, logs } = await own.end()
      expect(status).toBe("succeeded")
      // Kept within their limit, like logs that came by the right way.
      expect(Buffer.byteLength(JSON.stringify(logs))).toBeLessThan(200_000)
      const listed = await server.call("GET", `/v1/vals/${forger.id}/runs`, {
        as: server.mallory,
      })
      expect(listed.status).toBe(200)
    },
  )

  probe(getServer, "a val tries to close the control socket", async (server) => {
    const forger = await server.save(server.mallory, {
      code: toHoldingCode(`${reachControl}
  if (url.pathname === "/close") { socket.close(); await new Promise(() => {}) }
  return new Response("alive")`),
    })
    const response = await server.request(forger, { path: "/close" })
    expect(response.status).toBe(502)
    expect((await server.runOf(response, server.mallory)).status).toBe("crashed")
    // The next one gets a process that is whole.
    expect((await server.request(forger, { path: "/next" })).text).toBe("alive")
  })

  probe(
    getServer,
    "a val tries to answer a WebSocket with headers that split the answer",
    async (server) => {
      const forger = await server.save(server.mallory, {
        code: toHoldingCode(`${reachControl}
  return new Response("no socket", { status: 403, headers: { "x-own": "1" } })`),
      })
      const upgrade = {
        upgrade: "websocket",
        connection: "Upgrade",
        "sec-websocket-version": "13",
        "sec-websocket-key": "MDEyMzQ1Njc4OWFiY2RlZg==",
      }
      const response = await server.request(forger, { headers: upgrade })
      expect([response.status, response.text]).toEqual([403, "no socket"])
    },
  )

  probe(
    getServer,
    "somebody tries to connect to a control socket after the guest has",
    async (server) => {
      // The neighbour's process may have been idle for so long that it has ended.
      await server.expectHealthy()
      const { folder } = await server.sandboxOf(server.neighbour)
      expect(existsSync(join(folder, "run", "control.sock"))).toBe(false)
    },
  )

  probe(getServer, "all of these together try to fill the memory of the server", async (server) => {
    await getVictim()
    await server.expectHealthy()
    expect(readResidentBytes(server.hamlet.pid) - (residentBytes ?? 0)).toBeLessThan(
      100 * 1024 ** 2,
    )
  })
})
