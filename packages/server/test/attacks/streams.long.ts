import { expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import type { ReceivedResponse, SavedVal } from "./support/attack-server.ts"
import { describeAttacks } from "./support/describe-attacks.ts"
import { countOpenFiles, readResidentBytes } from "./support/processes.ts"
import { listSandboxes } from "./support/sandboxes.ts"

/** A whole run of `npm run long-test -- kills`. */
const isLong = process.env.HAMLET_CHAOS === "long"
const megabyte = 1024 ** 2
/** More than the server may grow, so that it cannot keep all of it. */
const streamBytes = (isLong ? 1024 : 150) * megabyte
/**
 * What passes before anything is measured: how much garbage the server lets gather is no matter of
 * how much passes.
 */
const warmUpBytes = 32 * megabyte
const valsCalled = isLong ? 1000 : 28
const socketsOpen = isLong ? 1000 : 300
const growthBytesMax = 100 * megabyte
const msMax = isLong ? 900_000 : 240_000

describeAttacks(
  "attacks/streams",
  { HAMLET_RUNS_PER_VAL_MAX: "1200", HAMLET_RUNS_PER_ACCOUNT_MAX: "1300" },
  (getServer) => {
    test(
      `${streamBytes / megabyte} MB from a val pass through the server without growing it`,
      async () => {
        const server = getServer()
        const val = await server.save(server.mallory, {
          code: `const part = new Uint8Array(65_536).fill(7)
export default (request) => {
  let left = Number(new URL(request.url).pathname.slice(1))
  return new Response(new ReadableStream({ pull(controller) { if (left === 0) controller.close(); else { controller.enqueue(part); left -= part.length } } }))
}`,
        })
        await (await server.fetchVal(val, { path: `/${warmUpBytes}` })).bytes()
        const watch = watchMemory(server.hamlet.pid)
        const response = await server.fetchVal(val, { path: `/${streamBytes}` })
        let bytes = 0
        let wrong = 0
        for await (const part of response.body ?? []) {
          bytes += part.length
          if (part[0] !== 7 || part.at(-1) !== 7) wrong++
          watch.look()
        }
        expect([bytes, wrong]).toEqual([streamBytes, 0])
        expect(watch.growth()).toBeLessThan(growthBytesMax)
        expect(
          (await server.endedRun(response.headers.get("x-run-id") ?? "", server.mallory)).status,
        ).toBe("succeeded")
      },
      msMax,
    )

    test(
      `${streamBytes / megabyte} MB to a val pass through the server without growing it`,
      async () => {
        const server = getServer()
        const val = await server.save(server.mallory, {
          code: `export default async (request) => {
  let bytes = 0, wrong = 0
  for await (const part of request.body) { bytes += part.length; if (part[0] !== 7 || part.at(-1) !== 7) wrong++ }
  return [bytes, wrong]
}`,
        })
        await server.request(val, { method: "POST", body: new Uint8Array(warmUpBytes) })
        const watch = watchMemory(server.hamlet.pid)
        const part = new Uint8Array(65_536).fill(7)
        let left = streamBytes
        const body = new ReadableStream({
          pull(controller) {
            watch.look()
            if (left === 0) return controller.close()
            controller.enqueue(part)
            left -= part.length
          },
        })
        expect((await server.request(val, { method: "POST", body })).json).toEqual([streamBytes, 0])
        expect(watch.growth()).toBeLessThan(growthBytesMax)
      },
      msMax,
    )

    test(
      "a stream arrives as it is written, and the val sees a client disconnect",
      async () => {
        const server = getServer()
        const val = await server.save(server.mallory, {
          code: `let cancelled = 0
export default (request) => {
  if (new URL(request.url).pathname === "/cancelled") return String(cancelled)
  return new Response(new ReadableStream({ start(controller) { controller.enqueue(new TextEncoder().encode("data: first\\n\\n")) }, cancel() { cancelled++ } }), { headers: { "content-type": "text/event-stream" } })
}`,
        })
        const response = await server.fetchVal(val)
        const reader = response.body?.getReader()
        expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: first\n\n")
        await reader?.cancel()
        await waitUntil(
          async () => (await server.request(val, { path: "/cancelled" })).text === "1",
        )
        expect(
          (await server.endedRun(response.headers.get("x-run-id") ?? "", server.mallory)).status,
        ).toBe("succeeded")
      },
      msMax,
    )

    test(
      `${socketsOpen} WebSockets are open at once, and each gets its own messages`,
      async () => {
        const server = getServer()
        const val = await server.save(server.mallory, {
          code: `let count = 0
export default (request) => {
  if (new URL(request.url).pathname === "/count") return String(count)
  const { socket, response } = Deno.upgradeWebSocket(request)
  const name = new URL(request.url).pathname.slice(1)
  socket.onopen = () => { count++ }
  socket.onmessage = ({ data }) => socket.send(name + " " + data)
  socket.onclose = () => { count-- }
  return response
}`,
        })
        await server.request(val, { path: "/count" })
        const before = {
          bytes: readResidentBytes(server.hamlet.pid),
          files: countOpenFiles(server.hamlet.pid),
        }
        const sockets: WebSocket[] = []
        for (let first = 0; first < socketsOpen; first += 50)
          sockets.push(
            ...(await Promise.all(
              Array.from({ length: 50 }, (_, index) =>
                openSocket(server.port, val.host, `s${first + index}`),
              ),
            )),
          )
        // The val hears of it when the client may know already.
        await waitUntil(
          async () => (await server.request(val, { path: "/count" })).text === String(socketsOpen),
        )
        const echoes = await Promise.all(
          sockets.map((socket, index) => ask(socket, `hello ${index}`)),
        )
        expect(echoes.filter((echo, index) => echo !== `s${index} hello ${index}`)).toEqual([])
        expect(readResidentBytes(server.hamlet.pid) - before.bytes).toBeLessThan(growthBytesMax)
        for (const socket of sockets) socket.close()
        await waitUntil(async () => (await server.request(val, { path: "/count" })).text === "0")
        await waitUntil(() => countOpenFiles(server.hamlet.pid) <= before.files + 20)
        await server.expectHealthy()
      },
      msMax,
    )
  },
)

describeAttacks(
  "attacks/streams: many vals",
  { HAMLET_PROCESSES_MAX: "8", HAMLET_IDLE_SECONDS: "300" },
  (getServer) => {
    test(
      "16 vals are called at once with at most 8 processes, and each responds",
      async () => {
        const server = getServer()
        const vals = await Promise.all(
          Array.from({ length: 16 }, (_, index) =>
            server.save(server.mallory, { code: `export default () => "at once ${index}"` }),
          ),
        )
        // On a very slow machine a client may be refused after the longest wait for a process, and
        // retries as told.
        const visit = async (val: SavedVal): Promise<ReceivedResponse> => {
          const answer = await server.request(val)
          return answer.status === 503 && answer.headers.has("retry-after") ? visit(val) : answer
        }
        const responses = await Promise.all(vals.map(visit))
        expect(responses.map(({ status, text }) => `${status} ${text.slice(0, 50)}`)).toEqual(
          vals.map((_, index) => `200 at once ${index}`),
        )
      },
      msMax,
    )

    test(
      `${valsCalled} vals are called one after the other, and leave nothing behind`,
      async () => {
        const server = getServer()
        const { pid } = server.hamlet
        const call = async (from: number, to: number) => {
          for (let index = from; index < to; index++) {
            const val = await server.save(server.mallory, {
              code: `export default () => "one of many ${index}"`,
            })
            const { status, text } = await server.request(val)
            expect(`${status} ${text.slice(0, 50)}`).toBe(`200 one of many ${index}`)
            server.resources.recordSometimes(pid)
          }
        }
        // The first ones fill what is kept on purpose.
        await call(0, 20)
        const before = { bytes: readResidentBytes(pid), files: countOpenFiles(pid) }
        await call(20, valsCalled)
        // Processes that make room for others take a moment to end.
        await waitUntil(async () => listSandboxes(pid).length <= 8)
        await waitUntil(() => countOpenFiles(pid) - before.files < 20)
        expect(readResidentBytes(pid) - before.bytes).toBeLessThan(growthBytesMax)
        await server.expectHealthy()
      },
      msMax,
    )
  },
)

/** The most that a process has had beyond what it had at the beginning. */
function watchMemory(pid: number) {
  const before = readResidentBytes(pid)
  let most = before
  let lookedMs = 0
  return {
    look() {
      if (performance.now() - lookedMs < 50) return
      lookedMs = performance.now()
      most = Math.max(most, readResidentBytes(pid))
    },
    growth: () => most - before,
  }
}

function openSocket(port: number, host: string, name: string): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/${name}`, {
      headers: { host },
    } as unknown as string[])
    socket.addEventListener("open", () => resolve(socket), { once: true })
    socket.addEventListener("error", () => reject(new Error(`WebSocket ${name} was not opened`)), {
      once: true,
    })
  })
}

function ask(socket: WebSocket, text: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.addEventListener("message", ({ data }) => resolve(data), { once: true })
    socket.addEventListener("close", () => reject(new Error("the WebSocket was closed")), {
      once: true,
    })
    socket.send(text)
  })
}
