import { afterAll, expect } from "bun:test"
import { Canary } from "./support/canary.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { shareEvalVal } from "./support/eval-val.ts"
import { OutsideServer, toRawUrl, toRedirect } from "./support/outside-server.ts"

const canary = await Canary.listenEverywhere()
const outside = await OutsideServer.listen({
  "/round": (socket) => socket.write(toRedirect("/round")),
  "/socket": (socket) => socket.end(toRedirect(`ws://127.0.0.1:${canary.port}/`)),
  "/socket-later": (socket) =>
    socket.end(
      `HTTP/1.1 103 Early Hints\r\nlocation: http://127.0.0.1:${canary.port}/\r\n\r\n${toRedirect(forbidden)}`,
    ),
})
const forbidden = `http://127.0.0.1:${canary.port}/`

afterAll(() => {
  canary.stop()
  outside.stop()
})

let count = 0
const redirectTo = (location: string, status?: number) =>
  toRawUrl(outside.port, `m${++count}`, toRedirect(location, status))
const { port } = canary

/** Where a redirect must not lead, beside what is refused anyway. */
const targets: readonly string[] = [
  `http://0x7f.1:${port}/`,
  `http://2130706433:${port}/`,
  `http://[::1]:${port}/`,
  `http://[::ffff:7f00:1]:${port}/`,
  `http://①②⑦.⓪.⓪.①:${port}/`,
  `//127.0.0.1:${port}/`,
  `\\\\127.0.0.1:${port}/`,
  `///127.0.0.1:${port}/`,
  `https://127.0.0.1:${port}/`,
  `http://localhost:${outside.port}@127.0.0.1:${port}/`,
  `http://localhost.:${port}/`,
  `http://x.localhost:${port}/`,
  "http://169.254.169.254/latest/meta-data/",
  "http://[fd00:ec2::254]/latest/meta-data/",
  "file:///etc/passwd",
  "file://localhost/etc/passwd",
  "data:text/plain,FORGED",
  "blob:null/x",
  "ftp://127.0.0.1/",
  "javascript:1",
  "unix:/run/val/in.sock",
  "http://",
  "http://:80/",
]

/** Answers that are no redirect, or a broken one. */
const answers: Readonly<Record<string, string>> = {
  "a line break of one character": `HTTP/1.1 302 Found\r\nlocation: http://localhost/\nlocation: ${forbidden}\r\ncontent-length: 0\r\n\r\n`,
  "a carriage return": `HTTP/1.1 302 Found\r\nlocation: http://localhost/\rlocation: ${forbidden}\r\ncontent-length: 0\r\n\r\n`,
  "a NUL": `HTTP/1.1 302 Found\r\nlocation: ${forbidden}\0.test\r\ncontent-length: 0\r\n\r\n`,
  "a line that goes on": `HTTP/1.1 302 Found\r\nlocation:\r\n ${forbidden}\r\ncontent-length: 0\r\n\r\n`,
  "two addresses": `HTTP/1.1 302 Found\r\nlocation: ${forbidden}\r\nlocation: ${forbidden}x\r\ncontent-length: 0\r\n\r\n`,
  "another answer behind it": `HTTP/1.1 302 Found\r\nlocation: ${forbidden}\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nFORGED`,
}

describeAttacks(
  "attacks/redirects",
  { HAMLET_EGRESS_ALLOW: `localhost:${outside.port}` },
  (getServer) => {
    const getPuppet = shareEvalVal(getServer)
    const follow = async (url: string, init = "{}") => {
      const { denied, got, runId } = await (await getPuppet()).evaluate(
        `return (await fetch(${JSON.stringify(url)}, ${init})).text()`,
      )
      expect(canary.connections).toBe(0)
      return { outcome: denied ?? `it got ${got}`, runId }
    }
    const refusal = `TypeError: Cannot fetch "${forbidden}": 127.0.0.1 is a loopback address`

    for (const status of [301, 302, 303, 307, 308])
      probe(getServer, `a val is led to loopback with status ${status}`, async (server) => {
        const { outcome, runId } = await follow(
          redirectTo(forbidden, status),
          `{ method: "POST", body: "the body" }`,
        )
        expect(outcome).toBe(refusal)
        expect((await server.endedRun(runId, server.mallory)).egress).toMatchObject({
          requests: 2,
          blocked: 1,
        })
      })

    for (const target of targets)
      probe(getServer, `a val is led to ${target}`, async () => {
        expect((await follow(redirectTo(Buffer.from(target).toString("latin1")))).outcome).toMatch(
          /^TypeError: (Cannot fetch "|Invalid URL: |Fetch failed: )/,
        )
      })

    for (const [title, response] of Object.entries(answers))
      probe(getServer, `a val is led to loopback by an address with ${title}`, async () => {
        const { outcome } = await follow(toRawUrl(outside.port, `m${++count}`, response))
        expect(outcome).toMatch(
          /^TypeError: Cannot fetch "http:\/\/(localhost:\d+\/raw\/m\d+": localhost:\d+ sent an invalid response|127\.0\.0\.1:)/,
        )
      })

    probe(getServer, "a val is led on and on, and to loopback in the end", async () => {
      const chain = Array.from({ length: 10 }).reduce<string>((url) => redirectTo(url), forbidden)
      expect((await follow(chain)).outcome).toBe(refusal)
    })

    probe(
      getServer,
      "a val is led round in a circle, a thousand times if it could be",
      async () => {
        const { outcome } = await follow(`http://localhost:${outside.port}/round`)
        expect(outcome).toMatch(/^TypeError: .*redirect/i)
        expect(outside.seen("/round").length).toBeLessThan(50)
      },
    )

    probe(getServer, "a val is led to the server itself by its address", async (server) => {
      expect((await follow(redirectTo(`http://127.0.0.1:${server.port}/healthz`))).outcome).toMatch(
        /^TypeError: Cannot fetch "http:\/\/127\.0\.0\.1:/,
      )
    })

    probe(
      getServer,
      "a val is led to the API, which does not get the token that was meant for another host",
      async (server) => {
        const { outcome } = await follow(
          redirectTo(`${server.baseUrl}/v1/me`),
          `{ headers: { authorization: "Bearer " + Deno.env.get("HAMLET_TOKEN") } }`,
        )
        expect(outcome).toContain('"code":"unauthenticated"')
      },
    )

    probe(getServer, "a val is led to loopback by another val", async (server) => {
      const guide = await server.save(server.bob, {
        code: `export default () => new Response(null, { status: 302, headers: { location: "${forbidden}" } })`,
      })
      expect((await follow(`http://${guide.host}/`)).outcome).toBe(refusal)
    })

    for (const path of ["/socket", "/socket-later"])
      probe(getServer, `a WebSocket is led to loopback from ${path}`, async () => {
        const { got } = await (await getPuppet()).evaluate(
          `return await new Promise((resolve) => { const socket = new WebSocket("ws://localhost:${outside.port}${path}"); socket.onopen = () => resolve("open"); socket.onerror = () => resolve("refused") })`,
        )
        expect(got).toBe("refused")
        expect(outside.seen(path).length).toBeGreaterThan(0)
        expect(canary.connections).toBe(0)
      })

    probe(getServer, "an EventSource is led to loopback", async () => {
      const { got } = await (await getPuppet()).evaluate(
        `return await new Promise((resolve) => { const source = new EventSource("${redirectTo(forbidden)}"); source.onopen = () => resolve("open"); source.onerror = () => { source.close(); resolve("refused") } })`,
      )
      expect(got).toBe("refused")
      expect(canary.connections).toBe(0)
    })

    probe(
      getServer,
      "a val is told of another way to the same host, and of things to fetch beforehand",
      async () => {
        const hints = `alt-svc: h2="127.0.0.1:${port}", h3="127.0.0.1:${port}"; ma=3600\r\nlink: <${forbidden}>; rel=preload\r\nrefresh: 0; url=${forbidden}\r\n`
        const response = `HTTP/1.1 103 Early Hints\r\n${hints}\r\nHTTP/1.1 200 OK\r\n${hints}content-length: 4\r\n\r\nfine`
        for (let round = 0; round < 3; round++)
          expect((await follow(toRawUrl(outside.port, `m${++count}`, response))).outcome).toBe(
            "it got fine",
          )
      },
    )

    probe(getServer, "nobody has sent anything but requests", async () =>
      expect(outside.faults).toEqual([]),
    )
  },
)
