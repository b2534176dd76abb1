import { waitUntil } from "@hamlet/kit/testing"
import type { Door, Stage } from "../door.ts"
import { openSocket, startProcess } from "../open-socket.ts"

/** What the world sends to the server without being asked, or as an answer to it. */
export const outsideDoors: readonly Door[] = [
  {
    name: "response to a webhook",
    async drive({ client, outside }) {
      const url = `${outside.url}/hook`
      const { id: webhook_id } = await client.createWebhook({ url, events: ["val.saved"] })
      await client.testWebhook({ webhook_id })
      await waitUntil(async () =>
        (await client.listDeliveries({ webhook_id })).data.some(({ attempts }) => attempts > 0),
      )
      await client.deleteWebhook({ webhook_id })
    },
  },
  {
    name: "response of a language model",
    async drive(stage) {
      const body = JSON.stringify({ model: "x", messages: [{ role: "user", content: "x" }] })
      await stage.send({ method: "POST", path: "/v1/openai/chat/completions", body })
    },
  },
  {
    name: "metadata of the sign-in provider",
    async drive(stage) {
      await stage.send({ method: "POST", path: "/v1/oidc/sign-ins" })
    },
  },
  {
    name: "metadata of a package",
    async drive({ client }) {
      const name = `needs${Bun.randomUUIDv7().replaceAll("-", "")}`
      const val = await client.createVal({ name, code: `import "npm:${name}"; export default 1` })
      await waitUntil(
        async () =>
          (await client.getVersionLock({ val_id: val.id, version: 1 })).state !== "pending",
        { msMax: 180_000 },
      )
    },
  },
  {
    name: "response of a collector, and the longest headers of a trace",
    async drive({ send, metricsPort }) {
      const countSpans = async () => {
        const metrics = await (await fetch(`http://localhost:${metricsPort}/metrics`)).text()
        const counts = metrics.match(/^hamlet_trace_spans_total\S+ \d+$/gm) ?? []
        return counts.reduce((sum, line) => sum + Number(line.split(" ")[1]), 0)
      }
      const before = await countSpans()
      const headers = {
        traceparent: `01-${"a".repeat(32)}-${"b".repeat(16)}-01-${"-".repeat(6_000)}`,
        tracestate: "a=b,".repeat(1_500),
      }
      for (let count = 0; count < 200; count++)
        await send({ method: "GET", path: "/v1/me", headers })
      await waitUntil(async () => (await countSpans()) >= before + 200)
    },
  },
  {
    name: "WebSocket messages of a client",
    async drive({ host }) {
      await startProcess(host, "ada-sockets")
      const socket = await openSocket(host, "ada-sockets")
      for (let count = 0; count < 20; count++) socket.send("\u00e9".repeat(400_000))
      for (let count = 0; count < 20_000; count++) socket.send("")
      socket.send("end")
      await socket.closed
    },
  },
  {
    name: "WebSocket messages of a val to clients that do not read",
    async drive({ host }) {
      await startProcess(host, "ada-sockets")
      const sockets = await Promise.all(
        Array.from({ length: 20 }, () => openSocket(host, "ada-sockets")),
      )
      // Not before they are open: a WebSocket with too much that waits is never opened.
      for (const socket of sockets) socket.send("flood")
      await Promise.all(sockets.map(({ closed }) => closed))
    },
  },
]

/** What a libSQL server responds to statements and to questions of our own, where there is one. */
export const libsqlDoors: readonly Door[] = [
  ...["endless", "nested", "digits", "many", "few"].map((kind) => ({
    name: `response of a libSQL server: ${kind}`,
    async drive(stage: Stage) {
      const body = JSON.stringify({ statement: `select '${kind}' as a` })
      const execute = { method: "POST", path: "/v1/sqlite/execute", body }
      // The second time the statement is known, and others may be sent together with it.
      await stage.send(execute)
      await Promise.all(Array.from({ length: 4 }, () => stage.send(execute)))
    },
  })),
  {
    name: "response of a libSQL server: sizes",
    async drive(stage) {
      await stage.send({ method: "GET", path: "/v1/me/usage" })
    },
  },
]

/** A val that takes WebSockets: it counts, or floods its clients. It closes each. */
export const socketsVal = `export default (request) => {
  const { socket, response } = Deno.upgradeWebSocket(request)
  const flood = (count, text) => {
    for (let index = 0; index < count; index++) socket.send(text)
    setTimeout(() => socket.close(), 1_000)
  }
  socket.onmessage = ({ data }) => {
    if (data === "small") flood(100_000, "a")
    if (data === "flood") flood(40, "a".repeat(100_000))
    if (data === "end") socket.close()
  }
  return response
}`
