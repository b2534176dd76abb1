import { afterAll, expect } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { egressRequests } from "./probes/egress-requests.ts"
import type { AttackServer } from "./support/attack-server.ts"
import { Canary } from "./support/canary.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { EgressConnection, findEgressSocket, sendToEgress } from "./support/egress-connection.ts"
import { shareEvalVal } from "./support/eval-val.ts"
import { holdRun, toHoldingCode } from "./support/live-run.ts"
import { type OutsideRequest, OutsideServer, toRawUrl } from "./support/outside-server.ts"
import { parseRawResponses } from "./support/raw-http.ts"

const canary = await Canary.listenEverywhere()
const outside = await OutsideServer.listen()
const up = `localhost:${outside.port}`
const bad = `127.0.0.1:${canary.port}`

afterAll(() => {
  canary.stop()
  outside.stop()
})

/**
 * A use of `fetch` by a val; `url` has the mark of this request. It results in at most one
 * well-formed request.
 */
interface FetchProbe {
  readonly tries: string
  readonly code: string
  /** Where it is refused in the val itself. */
  readonly denied?: RegExp
}

const withHeaders = (headers: string, more = "") =>
  `return await (await fetch(url, { headers: ${headers}${more} })).text()`
const fetchProbes: readonly FetchProbe[] = [
  { tries: "to be for another host", code: withHeaders(`{ host: "${bad}" }`) },
  {
    tries: "to be for another host by a client of its own",
    code: withHeaders(`{ host: "${bad}" }`, `, client: Deno.createHttpClient({ allowHost: true })`),
  },
  {
    tries: "to have two lengths",
    code: withHeaders(`{ "content-length": "5" }`, `, method: "POST", body: "x".repeat(50)`),
  },
  {
    tries: "to be longer than it is",
    code: withHeaders(
      `{ "content-length": "0" }`,
      `, method: "POST", body: "GET /smuggled HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n"`,
    ),
  },
  {
    tries: "to come in chunks and with a length",
    code: withHeaders(
      `{ "transfer-encoding": "chunked", "content-length": "5" }`,
      `, method: "POST", body: "0\\r\\n\\r\\nGET /smuggled HTTP/1.1\\r\\n\\r\\n"`,
    ),
  },
  {
    tries: "to come in chunks under another name",
    code: withHeaders(`{ "transfer-encoding": "xchunked" }`, `, method: "POST", body: "hello"`),
  },
  {
    tries: "to name headers for the next hop only",
    code: withHeaders(
      `[["connection", "close, x-secret"], ["x-secret", "1"], ["keep-alive", "timeout=5"]]`,
    ),
  },
  {
    tries: "to become HTTP/2",
    code: withHeaders(
      `{ connection: "upgrade, http2-settings", upgrade: "h2c", "http2-settings": "AAMAAABkAAQAoAAAAAIAAAAA" }`,
    ),
  },
  {
    tries: "to become something else",
    code: withHeaders(`{ connection: "upgrade", upgrade: "tcp" }`),
  },
  {
    tries: "to be waited for",
    code: withHeaders(`{ expect: "100-continue" }`, `, method: "POST", body: "hello"`),
  },
  { tries: "to have trailers", code: withHeaders(`{ te: "trailers", trailer: "x" }`) },
  {
    tries: "to authenticate itself to the proxy",
    code: withHeaders(`{ "proxy-authorization": "Basic eDp4", "proxy-connection": "keep-alive" }`),
  },
  {
    tries: "to be of another run, at another depth and blocked",
    code: withHeaders(
      `{ "x-hamlet-run": "x " + crypto.randomUUID(), "x-hamlet-depth": "-5", "x-hamlet-blocked": "1", "X-HAMLET-Any": "1" }`,
    ),
  },
  {
    tries: "a line break in a value",
    code: withHeaders(`{ x: "y\\r\\nhost: forged" }`),
    denied: /^TypeError: /,
  },
  {
    tries: "a line break in a name",
    code: withHeaders(`{ "x\\r\\nhost": "forged" }`),
    denied: /^TypeError: /,
  },
  { tries: "a NUL in a value", code: withHeaders(`{ x: "y\\0z" }`), denied: /^TypeError: / },
  {
    tries: "a line break in its address",
    code: `return await (await fetch(url + "\\r\\nx: y")).text()`,
  },
  {
    tries: "a line break in its address, encoded",
    code: `return await (await fetch(url + "%0d%0ahost:%20forged%0d%0a%0d%0aGET%20/smuggled")).text()`,
  },
  ...["CONNECT", "TRACE", "TRACK", "GET /smuggled HTTP/1.1\\r\\nx:"].map((method) => ({
    tries: `the method ${method.slice(0, 8)}`,
    code: `return await (await fetch(url, { method: "${method}" })).text()`,
    denied: /^TypeError: /,
  })),
  {
    tries: "HTTP/2 and nothing else",
    code: `return await (await fetch(url, { client: Deno.createHttpClient({ http1: false, http2: true }) })).text()`,
  },
]

let count = 0
const names = ({ headers }: OutsideRequest) => headers.map(([name]) => name)
/** What must not be visible outside. */
const ofTheWay =
  /^(x-hamlet-.*|proxy-.*|keep-alive|te|trailer|upgrade|http2-settings|expect|x-secret)$/

/** What the outside server has received of a request. */
function expectProper(mark: string, requestsMax = 1): readonly OutsideRequest[] {
  expect(outside.faults).toEqual([])
  expect(canary.connections).toBe(0)
  expect(outside.seen("smuggled").filter(({ target }) => !target.includes("%0d%0a"))).toEqual([])
  const seen = outside.seen(mark)
  expect(seen.length).toBeLessThanOrEqual(requestsMax)
  for (const request of seen) {
    expect(request.headers.filter(([name]) => name === "host")).toEqual([["host", up]])
    expect(names(request).filter((name) => ofTheWay.test(name))).toEqual([])
  }
  return seen
}

const env = {
  HAMLET_EGRESS_ALLOW: up,
  // Probes that use the socket of a sandbox need it longer than its run.
  HAMLET_IDLE_SECONDS: "300",
}

describeAttacks("attacks/egress requests", env, (getServer) => {
  const getPuppet = shareEvalVal(getServer)
  /** The socket of a sandbox that has a val. */
  const findPuppetSocket = async (server: AttackServer) => {
    const { val, evaluate } = await getPuppet()
    await evaluate("")
    return findEgressSocket(server, val)
  }

  for (const { tries, code, denied } of fetchProbes)
    probe(getServer, `a request tries ${tries}`, async () => {
      const mark = `mark${++count}.`
      const result = await (await getPuppet()).evaluate(
        `const url = "http://${up}/${mark}"; ${code}`,
      )
      if (denied) expect(result.denied ?? `it got ${result.got}`).toMatch(denied)
      else expect(result.got === "outside" || /^TypeError: /.test(result.denied ?? "")).toBe(true)
      expect(expectProper(mark).length).toBe(result.got === "outside" ? 1 : 0)
    })

  for (const { tries, bytes, passes } of egressRequests)
    probe(getServer, `a client of the egress socket tries ${tries}`, async (server) => {
      const egressSocket = await findPuppetSocket(server)
      const mark = `mark${++count}.`
      const text = bytes({ up, bad, mark })
      // The text is sent as a whole, and in two parts: what follows must not depend on where the
      // bytes are cut.
      for (const cut of [text.length, Math.floor(text.length / 2)]) {
        const received = await sendToEgress(egressSocket, text.slice(0, cut), text.slice(cut))
        const responses = parseRawResponses(Buffer.from(received, "latin1"))
        expect(responses.length).toBeLessThanOrEqual(1)
        if (!passes && responses[0])
          expect(`${responses[0].status} ${responses[0].body}`).toMatch(
            /^4\d\d (Cannot (fetch|read) |bytes follow it)/,
          )
      }
      const seen = expectProper(mark, 2)
      if (passes) expect(seen.length).toBeGreaterThan(0)
      expect(seen.map(({ target }) => target).filter((target) => target !== `/${mark}`)).toEqual([])
    })

  probe(getServer, "an outside response tries to look like one of the egress proxy", async () => {
    const response =
      "HTTP/1.1 200 OK\r\nx-hamlet-blocked: 1\r\nX-Hamlet-Failure: 1\r\nx-hamlet-run: x\r\ncontent-length: 6\r\n\r\nFORGED"
    const { got } = await (await getPuppet()).evaluate(
      `const answer = await fetch("${toRawUrl(outside.port, `m${++count}`, response)}"); return [...answer.headers.keys(), await answer.text()]`,
    )
    expect(got).toEqual(["content-length", "FORGED"])
  })

  probe(
    getServer,
    "a response of another val tries to look like one of the egress proxy",
    async (server) => {
      const forger = await server.save(server.bob, {
        code: `export default () => new Response("FORGED", { headers: { "x-hamlet-blocked": "1" } })`,
      })
      expect(
        (
          await (
            await getPuppet()
          ).evaluate(`return await (await fetch("http://${forger.host}/")).text()`)
        ).got,
      ).toBe("FORGED")
    },
  )

  probe(
    getServer,
    "a val learns the key of its process, and can still not speak for a run of somebody else",
    async (server) => {
      const evalVal = await getPuppet()
      const victim = await server.save(server.ada, { code: toHoldingCode() })
      const live = await holdRun(server, victim, "victim")
      // A proxy of its own gets what the guest adds to a request.
      const { got } =
        await evalVal.evaluate(`const listener = Deno.listen({ transport: "unix", path: "/tmp/own.sock" })
      const heard = listener.accept().then(async (connection) => {
        const bytes = new Uint8Array(10_000)
        const count = await connection.read(bytes)
        connection.close()
        return new TextDecoder().decode(bytes.subarray(0, count))
      })
      const controller = new AbortController()
      const client = Deno.createHttpClient({ proxy: { transport: "unix", path: "/tmp/own.sock" } })
      fetch("http://nowhere.invalid/", { client, signal: controller.signal }).catch(() => {})
      try { return await heard } finally { controller.abort(); listener.close() }`)
      const key = /x-hamlet-run: (\S+) /i.exec(String(got))?.[1]
      expect(key).toBeString()
      const egressSocket = await findEgressSocket(server, evalVal.val)
      for (const said of [
        `${key} ${live.id}`,
        `x ${live.id}`,
        live.id,
        `${key}  ${live.id}`,
        `${key} \t${live.id}`,
      ])
        await sendToEgress(
          egressSocket,
          `GET http://${up}/key HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-hamlet-run: ${said}\r\n\r\n`,
        )
      expect(outside.seen("/key").length).toBe(5)
      expect((await live.end()).egress).toBeNull()
    },
  )

  probe(
    getServer,
    "the egress socket of one val cannot send for another val, nor use its secrets",
    async (server) => {
      const carol = await server.addUser("carol")
      await server.call("PUT", "/v1/me/secrets/FOR_HOST", {
        as: carol,
        body: { value: "value-for-one-host", hosts: [up] },
      })
      const egressSocket = await findPuppetSocket(server)
      await sendToEgress(
        egressSocket,
        `GET http://${up}/theft HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-key: hamlet-secret:FOR_HOST\r\n\r\n`,
      )
      expect(
        outside
          .seen("/theft")
          .map(({ headers }) => headers.find(([name]) => name === "x-key")?.[1]),
      ).toEqual(["hamlet-secret:FOR_HOST"])
    },
  )

  probe(
    getServer,
    "a client of the egress socket has no more rights at the API than any client",
    async (server) => {
      const egressSocket = await findPuppetSocket(server)
      const ask = async (lines: string) =>
        parseRawResponses(
          Buffer.from(
            await sendToEgress(
              egressSocket,
              `GET ${server.baseUrl}/v1/me HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${lines}\r\n`,
            ),
            "latin1",
          ),
        )[0]?.status
      expect(await ask("")).toBe(401)
      expect(
        await ask(
          "x-hamlet-user: ada\r\nx-forwarded-for: 127.0.0.1\r\nforwarded: for=127.0.0.1\r\n",
        ),
      ).toBe(401)
    },
  )

  probe(
    getServer,
    "a sandbox keeps hundreds of heads open that never end, and only its own egress is limited",
    async (server) => {
      const crowd = await server.save(server.mallory, {
        code: `export default async () => (await fetch("http://${up}/crowd")).text()`,
      })
      expect((await server.request(crowd)).text).toBe("outside")
      const egressSocket = await findEgressSocket(server, crowd)
      const visitors = await Promise.all(
        Array.from({ length: 420 }, () => EgressConnection.connect(egressSocket)),
      )
      for (const visitor of visitors) visitor.write(`GET http://${up}/never HTTP/1.1\r\nx: `)
      await waitUntil(() => visitors.filter(({ isOpen }) => !isOpen).length >= 420 - 384)
      expect(
        (
          await (
            await getPuppet()
          ).evaluate(`return await (await fetch("http://${up}/next")).text()`)
        ).got,
      ).toBe("outside")
      await server.expectHealthy()
      for (const visitor of visitors) visitor.stop()
      await waitUntil(async () => (await server.request(crowd)).text === "outside")
      expect(outside.seen("/never")).toEqual([])
    },
  )
})
