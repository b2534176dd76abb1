import { expect } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { parseRawResponses, type RawResponse } from "./support/raw-http.ts"

/** A val that answers in a way that might harm its client, another one, or what is between them. */
interface BadAnswer {
  readonly tries: string
  /** The body of the val's function of `request`. */
  readonly code: string
  /** `name: message` of the error that the val itself gets, where there is one. */
  readonly denied?: RegExp
  /** What the client gets. */
  check?(response: RawResponse, all: readonly RawResponse[]): void
}

const header = ({ headers }: RawResponse, wanted: string) =>
  headers.filter(([name]) => name === wanted).map(([, value]) => value)
const expectBroken = (response: RawResponse) => {
  expect(response.status).toBe(502)
  expect(header(response, "content-type")).toEqual(["text/html; charset=utf-8"])
}

/** The client must see that it has not got everything. */
const expectCutOff = (response: RawResponse) => {
  if (response.status === 200 || response.status === 0) expect(response.isWhole).toBe(false)
  else expectBroken(response)
}

/** Every header that is about the connection, or that only the gateway may set. */
const connectionHeaders = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
  "x-hamlet-anything",
  "clear-site-data",
  "alt-svc",
]

const badAnswers: readonly BadAnswer[] = [
  {
    tries: "a header value with a line break",
    code: `return new Response("x", { headers: { a: "b\\r\\nset-cookie: forged=1" } })`,
    denied: /^TypeError: /,
  },
  {
    tries: "a header name with a line break",
    code: `return new Response("x", { headers: { "a\\r\\nset-cookie": "forged=1" } })`,
    denied: /^TypeError: /,
  },
  {
    tries: "a header value with a bare LF",
    code: `return new Response("x", { headers: { a: "b\\nset-cookie: forged=1" } })`,
    denied: /^TypeError: /,
  },
  {
    tries: "a header value with a NUL",
    code: `return new Response("x", { headers: { a: "b\\0c" } })`,
    denied: /^TypeError: /,
  },
  {
    tries: "a status text with a line break",
    code: `return new Response("x", { statusText: "OK\\r\\nset-cookie: forged=1" })`,
    denied: /^TypeError: /,
  },
  {
    tries: "a redirect with a line break",
    code: `return Response.redirect("http://a.test/\\r\\nset-cookie: forged=1")`,
    check: (response) =>
      expect([response.status, header(response, "set-cookie")]).toEqual([302, []]),
  },
  { tries: "status 101", code: `return new Response(null, { status: 101 })`, check: expectBroken },
  {
    tries: "status 99",
    code: `return new Response(null, { status: 99 })`,
    denied: /^RangeError: /,
  },
  {
    tries: "status 600",
    code: `return new Response(null, { status: 600 })`,
    denied: /^RangeError: /,
  },
  {
    tries: "status 204 with a body",
    code: `return new Response("x", { status: 204 })`,
    denied: /^TypeError: /,
  },
  {
    tries: "a status that is forged after the response was made",
    code: `const response = new Response("x"); Object.defineProperty(response, "status", { value: 700 }); return response`,
    check: (response) => expect([response.status, response.body]).toEqual([200, "x"]),
  },
  {
    tries: "headers of the connection and of the gateway",
    code: `return new Response("x", { headers: { ${connectionHeaders.map((name) => `"${name}": "x-own"`).join(", ")}, "x-own": "1", "x-run-id": "forged", "x-request-id": "forged", "x-kept": "1" } })`,
    check(response) {
      expect(response.status).toBe(200)
      expect(
        connectionHeaders.filter(
          (name) => name !== "connection" && header(response, name).length > 0,
        ),
      ).toEqual([])
      expect(
        header(response, "connection").filter((value) => !/^(close|keep-alive)$/i.test(value)),
      ).toEqual([])
      expect([
        header(response, "x-own"),
        header(response, "x-kept"),
        header(response, "x-request-id"),
      ]).toEqual([[], ["1"], []])
      expect(header(response, "x-run-id")).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)])
    },
  },
  {
    tries: "a transfer coding of its own",
    code: `return new Response("0\\r\\n\\r\\nHTTP/1.1 200 OK\\r\\n\\r\\n", { headers: { "transfer-encoding": "chunked" } })`,
    check(response, all) {
      expect(all).toHaveLength(1)
      expect(response.isWhole).toBe(true)
      if (response.status === 200) expect(response.body).toBe("0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")
      else expectBroken(response)
    },
  },
  {
    tries: "a length that is too short",
    code: `return new Response("hello HTTP/1.1 200 OK\\r\\n\\r\\n", { headers: { "content-length": "5" } })`,
    check(response, all) {
      expect(all).toHaveLength(1)
      if (response.status === 200)
        expect(["hello", "hello HTTP/1.1 200 OK\r\n\r\n"]).toContain(response.body)
      else expectBroken(response)
    },
  },
  {
    tries: "a length that is too long",
    code: `return new Response("hello", { headers: { "content-length": "5000" } })`,
    check(response, all) {
      expect(all).toHaveLength(1)
      // The body arrives as it is, or broken off: the client must not take what comes next for the
      // rest.
      if (response.status === 200)
        expect([response.body, response.isWhole]).toEqual([
          "hello",
          header(response, "content-length")[0] !== "5000",
        ])
      else expectBroken(response)
    },
  },
  {
    tries: "two lengths",
    code: `const headers = new Headers({ "content-length": "5" }); headers.append("content-length", "50"); return new Response("hello", { headers })`,
    check(response, all) {
      expect(all).toHaveLength(1)
      expect(header(response, "content-length").length).toBeLessThanOrEqual(1)
      if (response.status === 200) expect(response.body).toBe("hello")
      else expectBroken(response)
    },
  },
  {
    tries: "a length that is no number",
    code: `return new Response("hello", { headers: { "content-length": "many" } })`,
    check(response) {
      if (response.status === 200)
        expect([
          response.body,
          header(response, "content-length").filter((length) => length !== "5"),
        ]).toEqual(["hello", []])
      else expectBroken(response)
    },
  },
  {
    tries: "a length for a stream that ends too early",
    code: `return new Response(new ReadableStream({ start(controller) { controller.enqueue(new TextEncoder().encode("hello")); controller.close() } }), { headers: { "content-length": "5000000" } })`,
    check(response, all) {
      expect(all.length).toBeLessThanOrEqual(1)
      expectCutOff(response)
    },
  },
  {
    tries: "cookies for the whole domain",
    code: `return new Response("x", { headers: [["set-cookie", "a=1; Domain=localhost; Path=/"], ["set-cookie", "b=2;DOMAIN = .localhost;Secure"], ["set-cookie", "c=3; HttpOnly"], ["set-cookie", "d=4; domain"]] })`,
    check: (response) =>
      expect(header(response, "set-cookie")).toEqual([
        "a=1; Path=/",
        "b=2;Secure",
        "c=3; HttpOnly",
        "d=4",
      ]),
  },
  {
    tries: "to clear what the browser knows of its neighbours",
    code: `return new Response("x", { headers: { "clear-site-data": '"*"' } })`,
    check: (response) => expect(header(response, "clear-site-data")).toEqual([]),
  },
  {
    tries: "to lead the browser to another server for the same host",
    code: `return new Response("x", { headers: { "alt-svc": 'h3="evil.test:443"' } })`,
    check: (response) => expect(header(response, "alt-svc")).toEqual([]),
  },
  {
    tries: "a header of 1 MB",
    code: `return new Response("x", { headers: { a: "x".repeat(1024 ** 2) } })`,
    check: expectBroken,
  },
  {
    // Deno looks at all of them for each that is added: more would take longer than an answer may.
    tries: "4,000 headers",
    code: `const headers = new Headers(); for (let index = 0; index < 4_000; index++) headers.set("x-" + index, "y".repeat(30)); return new Response("x", { headers })`,
    check: expectBroken,
  },
  {
    tries: "10,000 cookies",
    code: `const headers = new Headers(); for (let index = 0; index < 10_000; index++) headers.append("set-cookie", "x" + index + "=y"); return new Response("x", { headers })`,
    check: expectBroken,
  },
  {
    tries: "a header called __proto__",
    code: `return new Response("x", { headers: [["__proto__", "forged"], ["constructor", "forged"], ["toString", "forged"]] })`,
    check: (response) => expect([response.status, response.body]).toEqual([200, "x"]),
  },
  {
    tries: "a failure that it made up",
    code: `return new Response(JSON.stringify({ error: { name: "Forged", message: "forged" }, logCount: 0 }), { headers: { "x-hamlet-failure": "1" } })`,
    check(response) {
      expect(header(response, "x-hamlet-failure")).toEqual([])
      if (response.status !== 200) expectBroken(response)
    },
  },
  {
    tries: "a failure that waits for logs that never come",
    code: `return new Response('{"error":{"name":"a","message":"b"},"logCount":1000000}', { headers: { "x-hamlet-failure": "1" } })`,
    check: (response) => expect([200, 502]).toContain(response.status),
  },
  {
    tries: "a failure of 20 MB",
    code: `return new Response('{"error":{"name":"a","message":"' + "x".repeat(20 * 1024 ** 2) + '"},"logCount":0}', { headers: { "x-hamlet-failure": "1" } })`,
    check: (response) => expect([200, 502]).toContain(response.status),
  },
  {
    tries: "a failure that never comes to its end",
    code: `return new Response(new ReadableStream({ start(controller) { controller.enqueue(new TextEncoder().encode('{"error":')) } }), { headers: { "x-hamlet-failure": "1" } })`,
    check: (response) => expect([502, 504]).toContain(response.status),
  },
  {
    tries: "a failure whose words are markup",
    code: `return new Response('{"error":{"name":"<script>","message":"<script>alert(1)</script>","stack":"<script>"},"logCount":0}', { headers: { "x-hamlet-failure": "1", "content-type": "application/json" } })`,
    check(response) {
      if (response.status !== 200) expect(response.body).not.toContain("<script>")
    },
  },
  {
    tries: "a body that is called compressed and is not",
    code: `return new Response("no gzip", { headers: { "content-encoding": "gzip" } })`,
    check: (response) => expect([response.status, response.body]).toEqual([200, "no gzip"]),
  },
  {
    tries: "a compressed body that becomes a thousand times as large",
    code: `const stream = new Response(new Uint8Array(50 * 1024 ** 2)).body.pipeThrough(new CompressionStream("gzip")); return new Response(await new Response(stream).arrayBuffer(), { headers: { "content-encoding": "gzip" } })`,
    check(response) {
      expect(response.status).toBe(200)
      expect(response.body.length).toBeLessThan(1024 ** 2)
    },
  },
  {
    tries: "a body that breaks off",
    code: `return new Response(new ReadableStream({ pull(controller) { controller.enqueue(new TextEncoder().encode("begin")); controller.error(new Error("broken")) } }))`,
    check: expectCutOff,
  },
  {
    tries: "a body of things that are no bytes",
    code: `return new Response(new ReadableStream({ start(controller) { controller.enqueue({ length: 5 }); controller.close() } }))`,
    check: expectCutOff,
  },
  {
    tries: "an answer to HEAD with a body",
    code: `return new Response("x".repeat(1000))`,
    check: (response) => expect([response.status, response.body.length]).toEqual([200, 1000]),
  },
  {
    tries: "to make an upgrade of a request that is none",
    code: `return Deno.upgradeWebSocket(request).response`,
    denied: /^TypeError: /,
  },
  {
    tries: "to take the connection over",
    code: `const { response } = Deno[Deno.internal].upgradeHttpRaw(request); return response`,
    denied: /^TypeError: /,
  },
  {
    tries: "to be embedded as the API's own page",
    code: `return new Response("x", { headers: { "access-control-allow-origin": "*", "access-control-allow-credentials": "true", "set-cookie": "token=x" } })`,
    check: (response) =>
      expect([response.status, header(response, "set-cookie")]).toEqual([200, ["token=x"]]),
  },
]

describeAttacks("attacks/gateway responses", { HAMLET_RUN_SECONDS_MAX: "10" }, (getServer) => {
  for (const { tries, code, denied, check } of badAnswers)
    probe(getServer, `a val answers with ${tries}`, async (server) => {
      const val = await server.save(server.mallory, {
        code: `export default async function (request) {
  try {
    return await (async () => { ${code} })()
  } catch (error) {
    return new Response("denied " + error.name + ": " + error.message)
  }
}
`,
      })
      const request = `GET / HTTP/1.1\r\nHost: ${val.host}\r\nConnection: close\r\n\r\n`
      const responses = parseRawResponses(await server.sendBytes(request))
      // A connection that is closed without a word is an answer that was broken off.
      const response = responses[0] ?? { status: 0, headers: [], body: "", isWhole: false }
      expect(
        responses
          .flatMap((one) => header(one, "set-cookie"))
          .filter((cookie) => cookie.startsWith("forged")),
      ).toEqual([])
      if (denied) expect(response.body).toMatch(new RegExp(`^denied ${denied.source.slice(1)}`))
      check?.(response, responses)
      // What came before must not be in the way of what comes after.
      const next = parseRawResponses(await server.sendBytes(request))
      expect(next[0]?.status ?? 0).toBe(response.status)
    })

  probe(
    getServer,
    "a val breaks its answer off, and its owner is told nothing of what is between us and the val",
    async (server) => {
      const val = await server.save(server.mallory, {
        code: `export default () => new Response(new ReadableStream({ pull(controller) { controller.enqueue(new Uint8Array(10)); controller.error(new Error("mine")) } }))`,
      })
      await server.sendBytes(`GET / HTTP/1.1\r\nHost: ${val.host}\r\nConnection: close\r\n\r\n`)
      // The client sees at once that the response was broken off; what the val says about it comes
      // over another socket.
      const run = await waitUntil(async () => {
        const { json } = await server.call("GET", `/v1/vals/${val.id}/runs`, {
          as: server.mallory,
        })
        const [run] = json.data
        return run?.runEndAt && run.error?.name !== "BrokenAnswer" ? run : undefined
      })
      expect(run.status).toBe("failed")
      expect(`${run.error.name}: ${run.error.message}`).toBe("Error: mine")
    },
  )
})
