import { afterAll, expect } from "bun:test"
import { waitUntil, waitUntilStable } from "@hamlet/kit/testing"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { createEvalVal } from "./support/eval-val.ts"
import { OutsideServer } from "./support/outside-server.ts"

const outside = await OutsideServer.listen()
const up = `localhost:${outside.port}`
afterAll(() => outside.stop())

/** A run that a visitor has started, and the 15 of the longest chain. */
const runsMax = 16
/** Several times as long as a val takes to call itself again. */
const quietMs = 800

/** Ways in which a val calls itself after its response, when no client waits that could stop it. */
const chains: Readonly<Record<string, string>> = {
  "by fetch": "fetch(url).catch(() => {})",
  "by EventSource, which says nothing of its run":
    "const source = new EventSource(url); source.onerror = () => source.close()",
  "by WebSocket": "new WebSocket(url).onerror = () => {}",
  "in a worker, which says nothing of its run":
    'const worker = new Worker("data:application/javascript,fetch(" + JSON.stringify(url) + ").finally(() => self.close())", { type: "module" }); worker.onerror = (event) => event.preventDefault()',
  "by node:http, over a socket": `import("node:http").then(({ default: http }) => http.get(url, (response) => response.resume()).on("error", () => {}))`,
  "by bytes on a socket, which say that it is not deep": `Deno.connect({ hostname: new URL(url).hostname, port: Number(new URL(url).port) }).then((socket) => socket.write(new TextEncoder().encode("GET / HTTP/1.1\\r\\nhost: " + new URL(url).host + "\\r\\nx-hamlet-depth: 0\\r\\n\\r\\n"))).catch(() => {})`,
  "on behalf of its first run": "tasks.push(() => fetch(url).catch(() => {})); wake()",
  "through the API": `fetch(Deno.env.get("HAMLET_URL") + "/v1/vals", { headers: { authorization: "Bearer " + Deno.env.get("HAMLET_TOKEN") } }).then(() => fetch(url)).catch(() => {})`,
}

describeAttacks(
  "attacks/egress runs",
  { HAMLET_EGRESS_ALLOW: up, HAMLET_ADDRESS_HEADER: "x-forwarded-for" },
  (getServer) => {
    for (const [index, [how, code]] of Object.entries(chains).entries())
      probe(getServer, `a val tries to call itself for ever ${how}`, async (server) => {
        const val = await server.save(server.bob, {
          code: `const tasks = []
let wake = () => {}
let hasBegun = false
const work = async () => { for (;;) { for (const task of tasks.splice(0)) task(); await new Promise((resolve) => { wake = resolve }) } }
export default async function (request) {
  await (await fetch("http://${up}/chain${index}.")).text()
  // What this loop does is done in the name of the run that has begun it.
  if (!hasBegun) void work()
  hasBegun = true
  const { url } = request
  setTimeout(() => { ${code} }, 5)
  return "fine"
}`,
        })
        // A busy machine may not have a process to spare yet.
        await waitUntil(async () => (await server.request(val)).text === "fine")
        const count = () => outside.seen(`/chain${index}.`).length
        // A chain that has not even begun could not go on.
        await waitUntil(() => count() > 1)
        const last = await waitUntilStable(() => Math.min(count(), runsMax + 1), quietMs)
        expect(last).toBeLessThanOrEqual(runsMax)
      })

    probe(
      getServer,
      "a val tries to be taken for a visitor with another address",
      async (server) => {
        const seer = await server.save(server.ada, {
          code: `export default (request) => Object.fromEntries(request.headers)`,
        })
        const evalVal = await createEvalVal(server)
        const { got } = await evalVal.evaluate(
          `return await (await fetch("http://${seer.host}/", { headers: { "x-forwarded-for": "6.6.6.6", "X-Forwarded-Host": "forged", "x-real-ip": "6.6.6.6", forwarded: "for=6.6.6.6" } })).json()`,
        )
        expect(got).toMatchObject({
          "x-forwarded-for": expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
          "x-forwarded-host": seer.host,
        })
        expect(JSON.stringify(got)).not.toContain("6.6.6.6")
        const overSocket = await evalVal.evaluate(
          `const { default: http } = await import("node:http"); return await new Promise((resolve, reject) => http.get("http://${seer.host}/", { headers: { "x-forwarded-for": "6.6.6.6", host: "forged" } }, (response) => { let text = ""; response.on("data", (bytes) => { text += bytes }); response.on("end", () => resolve(JSON.parse(text))) }).on("error", reject))`,
        )
        expect(overSocket.got).toMatchObject({
          "x-forwarded-for": expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
          host: seer.host,
        })
      },
    )

    probe(
      getServer,
      "a val tries to write its secrets into the record of its run",
      async (server) => {
        const carol = await server.addUser("carol")
        const secrets = { PLAIN: "SECRETVALUE", ODD: "se cret/va+lue&ü" }
        for (const [name, value] of Object.entries(secrets))
          await server.call("PUT", `/v1/me/secrets/${name}`, { as: carol, body: { value } })
        const evalVal = await createEvalVal(server, carol)
        const { runId } =
          await evalVal.evaluate(`for (const value of [Deno.env.get("PLAIN"), Deno.env.get("ODD")])
      for (const [url, init] of [
        ["http://10.0.0.1/" + value],
        ["http://10.0.0.1/" + encodeURIComponent(value)],
        ["http://10.0.0.1/?" + new URLSearchParams({ value })],
        ["http://10.0.0.1/?value=" + [...new TextEncoder().encode(value)].map((byte) => "%" + byte.toString(16).padStart(2, "0")).join("")],
        ["http://10.0.0.1/", { method: value }],
        ["http://" + value + ".invalid:99999/"],
      ]) await fetch(url, init).catch(() => {})`)
        const run = await server.endedRun(runId, carol)
        expect(run.egress.list.length).toBe(9)
        const texts = run.egress.list.flatMap(
          ({ url, method }: { url: string; method: string }) => [url, method],
        )
        for (const value of Object.values(secrets))
          expect(
            texts.filter(
              (text: string) =>
                text.includes(value) ||
                decodeURIComponent(text.replaceAll("+", " ")).includes(value),
            ),
          ).toEqual([])
        expect(texts.filter((text: string) => text.includes("[secret PLAIN]")).length).toBe(5)
      },
    )
  },
)
