import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { toResponse, UpstreamServer } from "@hamlet/http1/testing"
import { waitUntil } from "@hamlet/kit/testing"
import { egressKey, ProxyFixture, toGet } from "../testing/proxy-fixture.ts"

let upstream: UpstreamServer
let fixture: ProxyFixture
beforeEach(() => {
  upstream = new UpstreamServer((socket) => socket.write(toResponse("outside")))
  fixture = new ProxyFixture()
})
afterEach(async () => {
  expect(fixture.errors).toEqual([])
  await fixture.stop()
  upstream.stop()
})

const host = () => `a.test:${upstream.port}`
/** A request with these lines behind the first one; PORT is the port of the server upstream. */
const lines = (...more: readonly string[]) =>
  `POST http://a.test:PORT/ HTTP/1.1\r\n${more.map((line) => `${line}\r\n`).join("")}\r\n`
const first = (line: string) => `${line}\r\nhost: a.test\r\n\r\n`

/**
 * Requests that must not be forwarded: each is refused, no upstream connection is opened, and the
 * connection ends.
 */
const malformed: Readonly<Record<string, string>> = {
  "a path instead of an address": first("GET / HTTP/1.1"),
  "the path of an address whose host is in a header": "GET / HTTP/1.1\r\nhost: a.test:PORT\r\n\r\n",
  "a path that looks like a host": first("GET //a.test:PORT/ HTTP/1.1"),
  "CONNECT to a host": first("CONNECT a.test:PORT HTTP/1.1"),
  "CONNECT to a whole address": first("CONNECT http://a.test:PORT/ HTTP/1.1"),
  "CONNECT in lower case": first("connect http://a.test:PORT/ HTTP/1.1"),
  "OPTIONS for the whole server": first("OPTIONS * HTTP/1.1"),
  "another scheme": first("GET ftp://a.test:PORT/ HTTP/1.1"),
  "a WebSocket's scheme": first("GET ws://a.test:PORT/ HTTP/1.1"),
  "a file": first("GET file:///etc/passwd HTTP/1.1"),
  "a scheme without slashes": first("GET http:a.test:PORT/ HTTP/1.1"),
  "backslashes for slashes": first("GET http:\\\\a.test:PORT/ HTTP/1.1"),
  "an address without a host": first("GET http:// HTTP/1.1"),
  "an address without a host but with a port": first("GET http://:80/ HTTP/1.1"),
  "a port that is none": first("GET http://a.test:99999/ HTTP/1.1"),
  "a user name": first("GET http://ada@a.test:PORT/ HTTP/1.1"),
  "a user name and a password": first("GET http://ada:x@a.test:PORT/ HTTP/1.1"),
  "an empty user name": first("GET http://@a.test:PORT/ HTTP/1.1"),
  "a host behind a user name that looks like one": first(
    "GET http://b.test:80@a.test:PORT/ HTTP/1.1",
  ),
  "a fragment": first("GET http://a.test:PORT/#x HTTP/1.1"),
  "a host with a percent sign in its code": first("GET http://a%00.test:PORT/ HTTP/1.1"),
  "an address of IPv4 that is none": first("GET http://1.2.3.4.5:PORT/ HTTP/1.1"),
  "no version": first("GET http://a.test:PORT/"),
  "version 1.0": first("GET http://a.test:PORT/ HTTP/1.0"),
  "version 2": first("PRI * HTTP/2.0"),
  "version 1.1 in lower case": first("GET http://a.test:PORT/ http/1.1"),
  "two blanks in the first line": first("GET  http://a.test:PORT/ HTTP/1.1"),
  "a tab in the first line": first("GET\thttp://a.test:PORT/ HTTP/1.1"),
  "a blank behind the first line": first("GET http://a.test:PORT/ HTTP/1.1 "),
  "a blank in the address": first("GET http://a.test:PORT/a b HTTP/1.1"),
  "a character beyond ASCII in the address": first("GET http://a.test:PORT/\xe4 HTTP/1.1"),
  "a NUL in the address": first("GET http://a.test:PORT/\0 HTTP/1.1"),
  "a method that is no word": first("G(T http://a.test:PORT/ HTTP/1.1"),
  "a method without an end": first(`${"G".repeat(100)} http://a.test:PORT/ HTTP/1.1`),
  "no method": first(" http://a.test:PORT/ HTTP/1.1"),
  "an empty line before the first": `\r\n${first("GET http://a.test:PORT/ HTTP/1.1")}`,
  "a bare LF at the end of the first line":
    "GET http://a.test:PORT/ HTTP/1.1\nhost: a.test\r\n\r\n",
  "a bare CR in the first line": first("GET http://a.test:PORT/\rx HTTP/1.1"),
  "an answer": "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
  "a handshake of TLS": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n",
  "a length and chunks": lines("content-length: 5", "transfer-encoding: chunked"),
  "chunks and a length": lines("transfer-encoding: chunked", "content-length: 5"),
  "two lengths": lines("content-length: 5", "content-length: 6"),
  "the same length twice": lines("content-length: 5", "content-length: 5"),
  "two lengths in one line": lines("content-length: 5, 5"),
  "a negative length": lines("content-length: -1"),
  "a length with a sign": lines("content-length: +5"),
  "a length with a fraction": lines("content-length: 5.0"),
  "a length in hexadecimal": lines("content-length: 0x5"),
  "a length that no number holds": lines("content-length: 99999999999999999999"),
  "an empty length": lines("content-length:"),
  "a length with a blank in it": lines("content-length: 1 2"),
  "another coding": lines("transfer-encoding: gzip"),
  "chunks in another coding": lines("transfer-encoding: gzip, chunked"),
  "chunks twice": lines("transfer-encoding: chunked, chunked"),
  "two codings in two lines": lines("transfer-encoding: chunked", "transfer-encoding: identity"),
  "a coding that is nearly right": lines("transfer-encoding: xchunked"),
  "a coding in quotes": lines('transfer-encoding: "chunked"'),
  "a blank before the colon of the coding": lines("transfer-encoding : chunked"),
  "a vertical tab before the coding": lines("transfer-encoding: \x0bchunked"),
  "a folded header": lines("x-a: b", " c"),
  "a folded header at the beginning": lines(" x-a: b"),
  "a folded header with a tab": lines("x-a: b", "\tc"),
  "a header without a colon": lines("x-a"),
  "a header without a name": lines(": b"),
  "a name with a blank": lines("x a: b"),
  "a name with a control character": lines("x-\x01: b"),
  "a name beyond ASCII": lines("x-\xe4: b"),
  "a name in brackets": lines("(x): b"),
  "a NUL in a value": lines("x-a: b\0c"),
  "a bare CR in a value": lines("x-a: b\rc: d"),
  "a bare LF in a value": lines("x-a: b\nc: d"),
  "a DEL in a value": lines("x-a: b\x7f"),
  "a head that is too long": lines(`x-a: ${"b".repeat(70_000)}`),
  "a first line that is too long": first(`GET http://a.test:PORT/${"x".repeat(70_000)} HTTP/1.1`),
  "a head with too many headers": lines(
    ...Array.from({ length: 10_000 }, (_, index) => `x-${index}: b`),
  ),
}

describe("ClientConnection refuses", () => {
  for (const [title, text] of Object.entries(malformed)) {
    test(title, async () => {
      const client = await fixture.send(text.replaceAll("PORT", String(upstream.port)))
      await client.responded()
      expect([
        client.status,
        client.header("x-hamlet-blocked"),
        client.header("content-type"),
      ]).toEqual([400, "1", "text/plain; charset=utf-8"])
      expect(client.body).toMatch(/^Cannot (read the request|fetch ".{0,200}"): [^\r\n]+$/)
      expect(upstream.sockets.length).toBe(0)
    })
  }

  test("what follows an invalid request", async () => {
    const client = await fixture.connect()
    client.send(`${lines("content-length: 5", "content-length: 6")}${toGet(`http://${host()}/`)}`)
    await client.until(() => client.isClosed)
    expect([client.text.split("HTTP/1.1").length - 1, upstream.sockets.length]).toEqual([1, 0])
  })

  for (const [title, more] of [
    ["a pipelined request", toGet("http://b.test/")],
    ["a byte after the request", "x"],
    ["a line after the request", "\r\n"],
  ] as const) {
    test(`${title}, in the same read and in another`, async () => {
      const together = await fixture.connect()
      together.send(`${toGet(`http://${host()}/`)}${more}`)
      await together.until(() => together.isClosed)
      expect([together.status, together.header("x-hamlet-blocked")]).toEqual([400, "1"])
      expect(together.body).toContain("bytes follow it that are not part of it")
      expect(upstream.sockets.length).toBe(0)

      const apart = await fixture.connect()
      upstream.stop()
      upstream = new UpstreamServer(() => {})
      apart.send(toGet(`http://${host()}/slow`))
      await waitUntil(() => upstream.received() !== "")
      apart.send(more)
      await apart.until(() => apart.isClosed)
      expect(apart.status).toBe(400)
      await waitUntil(() => upstream.closed === 1)
    })
  }

  for (const [title, body] of [
    ["a chunk that is longer than it says", "3\r\nabcd\r\n0\r\n\r\n"],
    ["a chunk without a length", "\r\nabc\r\n0\r\n\r\n"],
    ["a length of a chunk that is none", "0x3\r\nabc\r\n0\r\n\r\n"],
    ["a chunk with a bare LF", "3\nabc\r\n0\r\n\r\n"],
    ["a length of a chunk that no number holds", "fffffffffffffffff\r\nabc"],
    ["a line before a chunk without an end", `3;${"x".repeat(1000)}`],
    ["a trailer without an end", `0\r\nx: ${"y".repeat(10_000)}`],
    ["something behind the last chunk", "0\r\n\r\nGET http://b.test/ HTTP/1.1\r\n\r\n"],
  ] as const) {
    test(`${title}, in the same read and in another`, async () => {
      upstream.stop()
      upstream = new UpstreamServer(() => {})
      const head = `POST http://${host()}/ HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n`
      const together = await fixture.send(`${head}${body}`)
      await together.until(() => together.isClosed)
      expect([together.status, together.header("x-hamlet-blocked")]).toEqual([400, "1"])

      const apart = await fixture.connect()
      apart.send(head)
      await waitUntil(() => upstream.received(upstream.sockets.length - 1).includes("chunked"))
      apart.send(body)
      await apart.until(() => apart.isClosed)
      expect(apart.status).toBe(400)
      await waitUntil(() => upstream.closed === upstream.sockets.length)
      expect(upstream.sockets.some(({ data }) => data.text.includes("b.test"))).toBe(false)
    })
  }
})

describe("ClientConnection reads", () => {
  test("a request byte by byte", async () => {
    upstream.stop()
    upstream = new UpstreamServer(
      (socket, text) => text.endsWith("abc") && socket.write(toResponse("outside")),
    )
    const client = await fixture.connect()
    const text = `POST http://${host()}/x?y=1 HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc`
    for (const char of text) {
      client.send(char)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    await client.responded()
    expect([client.status, client.body]).toEqual([200, "outside"])
    expect(upstream.received()).toBe(
      `POST /x?y=1 HTTP/1.1\r\nhost: ${host()}\r\ncontent-length: 3\r\n\r\nabc`,
    )
  })

  test("several requests in sequence", async () => {
    const client = await fixture.connect()
    for (let count = 1; count <= 3; count++) {
      client.send(toGet(`http://${host()}/${count}`))
      await client.until(() => client.text.split("outside").length - 1 === count)
    }
    expect(fixture.listener.sizes).toEqual({ clients: 1, upstreams: 1, requests: 0 })
  })

  test("an unknown method, and a body with any method", async () => {
    await fixture.send(`BREW http://${host()}/ HTTP/1.1\r\ncontent-length: 2\r\n\r\nab`)
    expect(upstream.received()).toBe(
      `BREW / HTTP/1.1\r\nhost: ${host()}\r\ncontent-length: 2\r\n\r\nab`,
    )
  })

  test("one request when it contains connection: close", async () => {
    const client = await fixture.send(`GET http://${host()}/ HTTP/1.1\r\nconnection: close\r\n\r\n`)
    await client.until(() => client.isClosed)
    expect([client.status, client.body]).toEqual([200, "outside"])
  })

  test("the rest of a body after an early response, up to a limit", async () => {
    await fixture.stop()
    fixture = new ProxyFixture({
      decide: () => ({ kind: "blocked", reason: "no" }),
      limits: { discardedBytesMax: 1000, lingerMsMax: 20 },
    })
    const client = await fixture.connect()
    const run = `x-hamlet-run: ${egressKey} run-1\r\n`
    client.send(`POST http://${host()}/ HTTP/1.1\r\n${run}content-length: 500\r\n\r\n`)
    await waitUntil(() => fixture.sent.length === 1)
    // An answer before the end of its body is more than Deno can take.
    expect(client.text).toBe("")
    client.send("x".repeat(500))
    client.send(toGet(`http://${host()}/again`))
    await client.until(() => client.text.split("HTTP/1.1 403").length === 3)
    client.send(`POST http://${host()}/ HTTP/1.1\r\ncontent-length: 5000\r\n\r\n`)
    client.send("x".repeat(2000))
    await client.until(() => client.isClosed)
    expect(client.text.split("HTTP/1.1 403").length).toBe(4)
  })
})

describe("ClientConnection responds", () => {
  test("before the end of a body that does not arrive", async () => {
    await fixture.stop()
    fixture = new ProxyFixture({
      decide: () => ({ kind: "blocked", reason: "no" }),
      limits: { deferredMsMax: 20 },
    })
    const client = await fixture.send(
      `POST http://${host()}/ HTTP/1.1\r\ncontent-length: 500\r\n\r\nabc`,
    )
    expect([client.status, client.isClosed]).toEqual([403, false])
  })
})

describe("ClientConnection is closed", () => {
  const waits: Readonly<Record<string, string>> = {
    "no bytes": "",
    "a head that does not end": "GET http://a.test/ HTTP/1.1\r\nx: ",
    "a head that does not begin": "G",
  }
  for (const [title, text] of Object.entries(waits)) {
    test(`after the time limit: ${title}`, async () => {
      await fixture.stop()
      fixture = new ProxyFixture({ limits: { keptMsMax: 30, headMsMax: 20 } })
      const client = await fixture.connect()
      client.send(text)
      await client.until(() => client.isClosed)
      expect(fixture.listener.sizes.clients).toBe(0)
    })
  }

  test("when there are too many: the oldest idle one, otherwise the new one", async () => {
    await fixture.stop()
    upstream.stop()
    upstream = new UpstreamServer(() => {})
    fixture = new ProxyFixture({ limits: { connectionsMax: 1, sparesMax: 1, deferredMsMax: 1 } })
    const [oldest, second, third] = [
      await fixture.connect(),
      await fixture.connect(),
      await fixture.connect(),
    ]
    await oldest.until(() => oldest.isClosed)
    expect([second.isClosed, third.isClosed, fixture.listener.sizes.clients]).toEqual([
      false,
      false,
      2,
    ])
    for (const client of [second, third])
      client.send(`POST http://${host()}/ HTTP/1.1\r\ncontent-length: 10\r\n\r\n`)
    await waitUntil(() => upstream.received() !== "" && second.text + third.text !== "")
    const [refused] = [second, third].filter(({ text }) => text !== "")
    expect(refused?.body).toEndWith("the program has 1 outgoing requests open already")
    // The refused request discards its body and the other waits: neither connection is idle.
    const fourth = await fixture.connect()
    await fourth.until(() => fourth.isClosed)
  })
})
