import { expect } from "bun:test"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { waitUntil } from "@hamlet/kit/testing"
import { limitConcurrency } from "../support/limit-concurrency.ts"
import { type Abuse, cpuAbuses, memoryAbuses, timeAbuses } from "./probes/abuses.ts"
import type { AttackServer } from "./support/attack-server.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { isRunning, readResidentBytes } from "./support/processes.ts"
import { openRaw } from "./support/raw-http.ts"

const growthBytesMax = 100 * 1024 ** 2

/** The memory of the server before anybody was noisy. */
const quiet = new WeakMap<AttackServer, number>()

async function abuse(server: AttackServer, { takes, code, status, run }: Abuse): Promise<void> {
  const before = quiet.get(server) ?? readResidentBytes(server.hamlet.pid)
  quiet.set(server, before)
  const atLoad = takes.endsWith("when it is loaded")
    ? "const all = []; while (true) all.push({ a: all.length })\n"
    : ""
  const val = await server.save(server.mallory, {
    code: `${atLoad}export default async function (request) {\n  if (new URL(request.url).pathname === "/fine") return "fine"\n${code}\n}\n`,
  })
  const answer = await server.request(val)
  expect(`${answer.status} ${answer.text.slice(0, 100)}`).toStartWith(`${status} `)
  const record = await server.runOf(answer, server.mallory)
  expect(
    `${record.status} ${record.error ? `${record.error.name}: ${record.error.message}` : ""}`,
  ).toMatch(run)
  // The val can still be called.
  if (atLoad === "")
    await waitUntil(async () => (await server.request(val, { path: "/fine" })).text === "fine")
  expect(readResidentBytes(server.hamlet.pid) - before).toBeLessThan(growthBytesMax)
}

function folderBytes(folder: string): number {
  return readdirSync(folder).reduce((bytes, name) => bytes + statSync(join(folder, name)).size, 0)
}

/**
 * A busy process gets the CPU time that others leave: on a loaded machine, one second of it may
 * take a minute.
 */
const cpuMsMax = 90_000
/** More at once would get so little of a processor each that it looks as if they had paused. */
const cpuTurn = limitConcurrency(2)
const cpuProbeMsMax = 110_000
const ample = {
  HAMLET_VAL_CPU_SECONDS_MAX: "1",
  HAMLET_RUN_SECONDS_MAX: String(cpuMsMax / 1000),
  // Its limit ends a process, and nothing else.
  HAMLET_IDLE_SECONDS: "300",
}

describeAttacks("attacks/noisy neighbours: CPU", ample, (getServer) => {
  for (const probed of cpuAbuses)
    probe(
      getServer,
      `takes ${probed.takes}, and is ended at its limit`,
      (server) => cpuTurn(() => abuse(server, probed)),
      cpuProbeMsMax,
    )

  const afterwards = async (server: AttackServer) => {
    const val = await server.save(server.mallory, {
      code: `export default (request) => { if (new URL(request.url).pathname === "/loop") setTimeout(() => { while (true) {} }, 500); return "fine" }`,
    })
    expect((await server.request(val)).text).toBe("fine")
    const { guest } = await server.sandboxOf(val)
    // On a busy machine the loop may begin before the response has left.
    await waitUntil(async () => (await server.request(val, { path: "/loop" })).text === "fine")
    await waitUntil(() => !isRunning(guest), { msMax: cpuMsMax })
    // The server hears of it a moment later.
    await waitUntil(async () => (await server.request(val)).text === "fine")
  }
  probe(
    getServer,
    "takes the CPU after it has answered, and is ended at its limit",
    (server) => cpuTurn(() => afterwards(server)),
    cpuProbeMsMax,
  )
})

const tight = {
  HAMLET_VAL_MEMORY_MB: "96",
  HAMLET_VAL_SCRATCH_MB: "8",
  // Several of them at once want more than a busy processor has in a minute; who takes time has a
  // server of their own.
  HAMLET_RUN_SECONDS_MAX: "150",
  HAMLET_STREAM_SECONDS_MAX: "2",
  HAMLET_VAL_CPU_SECONDS_MAX: "60",
  HAMLET_RUNS_PER_VAL_MAX: "8",
}

describeAttacks("attacks/noisy neighbours: memory, disk and files", tight, (getServer) => {
  for (const probed of memoryAbuses)
    probe(getServer, `takes ${probed.takes}, and is held to its limit`, async (server) => {
      await abuse(server, probed)
      expect(folderBytes(server.dataDir)).toBeLessThan(50 * 1024 ** 2)
    })

  probe(getServer, "logs more than is kept, and the rest is cut with a mark", async (server) => {
    const val = await server.save(server.mallory, {
      type: "script",
      code: `export default () => { for (let index = 0; index < 5_000; index++) console.log("x".repeat(1_000)); return 1 }`,
    })
    const { status, logs, logsTruncated } = await server.run(val)
    expect([status, logsTruncated]).toEqual(["succeeded", true])
    expect(Buffer.byteLength(JSON.stringify(logs))).toBeLessThan(200_000)
  })

  probe(getServer, "returns more than is kept, and it is cut with a mark", async (server) => {
    const val = await server.save(server.mallory, {
      type: "script",
      code: `export default () => "x".repeat(3_000_000)`,
    })
    const record = await server.run(val)
    expect(record.status).toBe("succeeded")
    expect(JSON.stringify(record).length).toBeLessThan(200_000)
  })

  probe(
    getServer,
    "never ends its body, and is ended when the time for answers is over",
    async (server) => {
      const val = await server.save(server.mallory, {
        code: `export default () => new Response(new ReadableStream({ async pull(controller) { await new Promise((resolve) => setTimeout(resolve, 20)); controller.enqueue(new Uint8Array(1000)) } }))`,
      })
      const response = await server.fetchVal(val)
      expect(response.status).toBe(200)
      await expect(response.bytes()).rejects.toThrow()
      const { status, error } = await server.endedRun(
        response.headers.get("x-run-id") ?? "",
        server.mallory,
      )
      expect(`${status} ${error?.message}`).toMatch(/^timed_out .*longer than 2 seconds/)
    },
  )

  probe(
    getServer,
    "writes a body as fast as it can to somebody who does not read, and the server keeps none of it",
    async (server) => {
      const val = await server.save(server.mallory, {
        code: `export default () => new Response(new ReadableStream({ pull(controller) { controller.enqueue(new Uint8Array(1024 ** 2)) } }))`,
      })
      const before = readResidentBytes(server.hamlet.pid)
      const responses = await Promise.all(Array.from({ length: 8 }, () => server.fetchVal(val)))
      // The time of the runs is over before their responses have been read.
      for (const response of responses)
        await server.endedRun(response.headers.get("x-run-id") ?? "", server.mallory)
      expect(readResidentBytes(server.hamlet.pid) - before).toBeLessThan(growthBytesMax)
      await Promise.all(responses.map((response) => response.body?.cancel().catch(() => {})))
    },
  )

  probe(
    getServer,
    "leaves WebSockets open, and they are closed when their time is over",
    async (server) => {
      const val = await server.save(server.mallory, {
        code: `export default (request) => { if (!request.headers.has("upgrade")) return "fine"; const { socket, response } = Deno.upgradeWebSocket(request); socket.onopen = () => socket.send("open"); return response }`,
      })
      // From here on it has a process, for which the WebSocket need not wait.
      const first = await server.runOf(await server.request(val), server.mallory)
      const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`, {
        headers: { host: val.host },
      } as unknown as string[])
      const { promise, resolve } = Promise.withResolvers<number>()
      socket.addEventListener("close", ({ code }) => resolve(code))
      expect(await promise).toBe(1001)
      // Runs of requests are written down a little later.
      const id = await waitUntil(
        async () =>
          (
            await server.call("GET", `/v1/vals/${val.id}/runs`, { as: server.mallory })
          ).json.data.find((run: { readonly id: string }) => run.id !== first.id)?.id,
      )
      const { status, error } = await server.endedRun(id, server.mallory)
      expect(`${status} ${error?.message}`).toMatch(/^timed_out .*longer than 2 seconds/)
    },
  )

  probe(
    getServer,
    "is sent half of many bodies, and its runs are left to others",
    async (server) => {
      const val = await server.save(server.mallory, {
        code: `export default async (request) => { await request.text(); return "fine" }`,
      })
      expect((await server.request(val)).text).toBe("fine")
      const head = `POST / HTTP/1.1\r\nHost: ${val.host}\r\n`
      const halves = [
        `${head}Content-Length: 1000000\r\n\r\nhalf`,
        `${head}Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n`,
      ]
      const sockets = await Promise.all(
        Array.from({ length: 40 }, (_, index) => openRaw(server.port, halves[index % 2] ?? "")),
      )
      try {
        // Eight runs of a val may go on at once; a quarter of them may wait for bodies, and half of
        // these for one client's.
        await waitUntil(
          () =>
            sockets.filter(({ received }) => received().startsWith("HTTP/1.1 429 ")).length === 39,
        )
        const answers = await Promise.all(
          Array.from({ length: 5 }, () => server.request(val, { method: "POST", body: "whole" })),
        )
        expect(answers.map(({ status, text }) => `${status} ${text}`)).toEqual(
          Array.from({ length: 5 }, () => "200 fine"),
        )
        // What was refused says when to come back.
        expect(
          sockets.find(({ received }) => received().startsWith("HTTP/1.1 429 "))?.received(),
        ).toMatch(/\r\nretry-after: 1\r\n/i)
      } finally {
        for (const { close } of sockets) close()
      }
      // The place is free again.
      const large = "x".repeat(100_000)
      await waitUntil(
        async () => (await server.request(val, { method: "POST", body: large })).text === "fine",
      )
    },
  )

  probe(
    getServer,
    "has more callers than it may, and they wait, or are told to come back",
    async (server) => {
      const val = await server.save(server.mallory, {
        code: `export default async () => { await new Promise((resolve) => setTimeout(resolve, 300)); return "fine" }`,
      })
      const answers = await Promise.all(Array.from({ length: 64 }, () => server.request(val)))
      const odd = answers.filter(
        ({ status, text, headers }) =>
          !(status === 200 && text === "fine") &&
          !([429, 503].includes(status) && headers.has("retry-after")),
      )
      expect(odd.map(({ status, text }) => `${status} ${text.slice(0, 200)}`)).toEqual([])
      expect(answers.some(({ status }) => status === 200)).toBe(true)
    },
  )
})

describeAttacks(
  "attacks/noisy neighbours: time",
  { ...tight, HAMLET_RUN_SECONDS_MAX: "3" },
  (getServer) => {
    for (const probed of timeAbuses)
      probe(getServer, `takes ${probed.takes}, and is held to its limit`, (server) =>
        abuse(server, probed),
      )

    probe(
      getServer,
      "does not read what it is sent, and the server keeps none of it",
      async (server) => {
        const val = await server.save(server.mallory, {
          code: `export default async () => { await new Promise(() => {}) }`,
        })
        const before = readResidentBytes(server.hamlet.pid)
        const part = new Uint8Array(1024 ** 2)
        let sent = 0
        const body = new ReadableStream({
          pull(controller) {
            sent += part.length
            if (sent > 500 * 1024 ** 2) controller.close()
            else controller.enqueue(part)
          },
        })
        const answer = await server.request(val, { method: "POST", body }).catch(() => undefined)
        expect([504, undefined]).toContain(answer?.status)
        expect(readResidentBytes(server.hamlet.pid) - before).toBeLessThan(growthBytesMax)
      },
    )
  },
)
