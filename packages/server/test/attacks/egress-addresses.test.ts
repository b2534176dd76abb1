import { afterAll, expect } from "bun:test"
import { type Notation, notations } from "./probes/egress-addresses.ts"
import { Canary } from "./support/canary.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { shareEvalVal } from "./support/eval-val.ts"

/** On every address of this machine, at a port that vals may reach. */
const canary = await Canary.listenEverywhere()
/** Where vals may go, to see that they would arrive. */
const friend = await Canary.listen("127.0.0.1")

afterAll(() => {
  canary.stop()
  friend.stop()
})

const refused = /^TypeError: (Cannot fetch "http:\/\/|Invalid URL: )/

describeAttacks(
  "attacks/egress addresses",
  { HAMLET_EGRESS_ALLOW: `127.0.0.1:${friend.port}` },
  (getServer) => {
    const getPuppet = shareEvalVal(getServer)
    const attempt = async (expression: string) =>
      (await getPuppet()).evaluate(`return await (${expression})`)
    const toUrl = ({ host }: Notation, scheme = "http", port = canary.port) =>
      `${scheme}://${host}:${port}/`

    for (const notation of notations)
      probe(getServer, `a val tries ${notation.title}`, async () => {
        const { denied, got } = await attempt(
          `fetch("${toUrl(notation)}").then((answer) => answer.text())`,
        )
        expect(denied ?? `it got ${got}`).toMatch(refused)
        expect(canary.connections).toBe(0)
      })

    probe(
      getServer,
      "a val would arrive where it may go, so that the others have not failed for another reason",
      async () => {
        for (const host of ["127.0.0.1", "0x7f.1", "[::ffff:7f00:1]"])
          expect(
            await attempt(
              `fetch("http://${host}:${friend.port}/").then((answer) => answer.text())`,
            ),
          ).toMatchObject({ got: "captured" })
        expect(friend.connections).toBe(3)
      },
    )

    for (const scheme of ["https", "ws", "wss"])
      probe(getServer, `a val tries all of them over ${scheme}`, async () => {
        const urls = notations.map((notation) => toUrl(notation, scheme))
        const open = scheme.startsWith("ws")
          ? `new Promise((resolve, reject) => { const socket = new WebSocket(url); socket.onopen = () => resolve("open"); socket.onerror = reject })`
          : "fetch(url)"
        const { got } = await attempt(
          `Promise.all([${urls.map((url) => `"${url}"`).join(",")}].map(async (url) => { try { await ${open}; return url } catch { return null } })).then((all) => all.filter(Boolean))`,
        )
        expect(got).toEqual([])
        expect(canary.connections).toBe(0)
      })

    probe(getServer, "a val tries some of them by EventSource and in a worker", async () => {
      const urls = JSON.stringify(
        ["127.0.0.1", "127.1", "localhost", "[::1]"].map(
          (host) => `http://${host}:${canary.port}/`,
        ),
      )
      const { got } = await attempt(`(async () => {
      const heard = await Promise.all(${urls}.map((url) => new Promise((resolve) => {
        const source = new EventSource(url)
        source.onopen = () => resolve("open")
        source.onerror = () => { source.close(); resolve("refused") }
      })))
      const code = 'Promise.all(${urls}.map((url) => fetch(url).then((answer) => answer.text()))).then(postMessage, (error) => postMessage(error.message))'
      const worker = new Worker("data:application/javascript," + encodeURIComponent(code), { type: "module" })
      const said = await new Promise((resolve, reject) => { worker.onmessage = ({ data }) => resolve(data); worker.onerror = reject })
      worker.terminate()
      return [...heard, said]
    })()`)
      expect((got as unknown[]).slice(0, 4)).toEqual(Array(4).fill("refused"))
      expect(JSON.stringify(got)).not.toContain("captured")
      expect(canary.connections).toBe(0)
    })

    probe(
      getServer,
      "a worker tries to bypass the egress proxy by changing its environment",
      async () => {
        const code = `for (const name of ["HTTP_PROXY", "HTTPS_PROXY"]) { try { Deno.env.delete(name) } catch {} }
      try { Deno.env.set("NO_PROXY", "*") } catch {}
      fetch("http://127.0.0.1:${canary.port}/", { client: Deno.createHttpClient({}) }).then((answer) => answer.text()).then(postMessage, (error) => postMessage("refused: " + error.message))`
        const { got } = await attempt(`(async () => {
      const worker = new Worker("data:application/javascript," + encodeURIComponent(${JSON.stringify(code)}), { type: "module" })
      try { return await new Promise((resolve, reject) => { worker.onmessage = ({ data }) => resolve(data); worker.onerror = reject }) } finally { worker.terminate() }
    })()`)
        expect(got).toMatch(/^refused: /)
        expect(canary.connections).toBe(0)
      },
    )

    for (const host of [
      "127.0.0.1",
      "[::1]",
      "0.0.0.0",
      "[::ffff:127.0.0.1]",
      "2130706433",
      "localhost.",
      "LOCALHOST.",
    ])
      probe(
        getServer,
        `a val tries the port of the server itself at ${host}, which is allowed by its name only`,
        async (server) => {
          const { denied, got } = await attempt(
            `fetch("http://${host}:${server.port}/healthz").then((answer) => answer.text())`,
          )
          expect(denied ?? `it got ${got}`).toMatch(/^TypeError: Cannot fetch "/)
        },
      )

    for (const port of [5432, 6379, 11_211, 2375, 3306, 9200, 22, 25])
      probe(getServer, `a val tries what usually listens on port ${port}`, async () => {
        for (const host of ["127.0.0.1", "localhost", "0x7f.1", "[::1]"]) {
          const { denied, got } = await attempt(
            `fetch("http://${host}:${port}/").then((answer) => answer.text())`,
          )
          expect(denied ?? `it got ${got}`).toMatch(
            /^TypeError: (Cannot fetch "|Fetch failed: Requests to port \d+ are blocked)/,
          )
        }
      })

    for (const url of [
      "file:///etc/passwd",
      "file://localhost/etc/passwd",
      "ftp://127.0.0.1:21/",
      "gopher://127.0.0.1:6379/_INFO",
      "http+unix://%2frun%2fval%2fin.sock/",
      "unix:/run/val/in.sock",
      "blob:http://127.0.0.1/x",
      "dict://127.0.0.1:11211/stat",
    ])
      probe(getServer, `a val tries to fetch ${url}`, async () => {
        const { denied, got } = await attempt(`fetch("${url}").then((answer) => answer.text())`)
        expect(denied ?? `it got ${got}`).toMatch(/^(TypeError|NotCapable|NotFound): /)
        expect(JSON.stringify(got) ?? "").not.toContain("root:")
      })

    probe(
      getServer,
      "what is refused says where it went and why, and is counted in the run",
      async (server) => {
        const evalVal = await getPuppet()
        const { denied, runId } = await evalVal.evaluate(
          `await fetch("http://0x7f.1:${canary.port}/path?query=1")`,
        )
        expect(denied).toBe(
          `TypeError: Cannot fetch "http://127.0.0.1:${canary.port}/path": 127.0.0.1 is a loopback address`,
        )
        const { egress } = await server.endedRun(runId, server.mallory)
        expect(egress).toMatchObject({ requests: 1, blocked: 1, bytesSent: 0, bytesReceived: 0 })
      },
    )
  },
)
