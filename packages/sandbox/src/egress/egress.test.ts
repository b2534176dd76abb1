import { afterEach, describe, expect, test } from "bun:test"
import { countRequests, toResponse, UpstreamServer } from "@hamlet/http1/testing"
import { RateLimited } from "@hamlet/kit"
import { waitUntil } from "@hamlet/kit/testing"
import { depthHeader, depthMax } from "../program/outgoing-request.ts"
import {
  egressKey,
  ProxyFixture,
  type ProxyFixtureOptions,
  toGet,
} from "./testing/proxy-fixture.ts"

let upstream: UpstreamServer | undefined
let fixture: ProxyFixture | undefined
afterEach(async () => {
  expect(fixture?.errors ?? []).toEqual([])
  await fixture?.stop()
  upstream?.stop()
  fixture = upstream = undefined
})

function open(
  act: ConstructorParameters<typeof UpstreamServer>[0],
  options: ProxyFixtureOptions = {},
): { fixture: ProxyFixture; upstream: UpstreamServer; url: string } {
  upstream = new UpstreamServer(act)
  fixture = new ProxyFixture(options)
  return { fixture, upstream, url: `http://a.test:${upstream.port}` }
}
const linesOf = (text: string) => text.split("\r\n\r\n", 1)[0]?.split("\r\n") ?? []

describe("ProxiedRequest forwards a request", () => {
  test("to the host of its URL, whatever its Host header is", async () => {
    const { fixture, upstream, url } = open((socket) =>
      socket.write(toResponse("hello", "x-a: b\r\n")),
    )
    const client = await fixture.get(
      `${url}/x/../y%20z?q=1&r=ä`.replace("ä", "%C3%A4"),
      "accept: */*\r\naccept-encoding: gzip\r\n",
    )
    expect(linesOf(upstream.received())).toEqual([
      "GET /y%20z?q=1&r=%C3%A4 HTTP/1.1",
      `host: a.test:${upstream.port}`,
      "accept: */*",
      "accept-encoding: gzip",
    ])
    expect([
      client.status,
      client.header("x-a"),
      client.header("content-length"),
      client.body,
    ]).toEqual([200, "b", "5", "hello"])
  })

  test("without hop-by-hop headers, proxy headers and headers of this server", async () => {
    const { fixture, upstream, url } = open((socket) =>
      socket.write(
        toResponse(
          "x",
          "connection: x-b, keep-alive\r\nx-b: 1\r\nkeep-alive: 5\r\nx-hamlet-blocked: 1\r\nproxy-authenticate: x\r\nx-c: 2\r\n",
        ),
      ),
    )
    const dropped = [
      "connection: x-named, close-not",
      "x-named: 1",
      "keep-alive: 5",
      "proxy-authorization: x",
      "proxy-connection: keep-alive",
      "te: trailers",
      "trailer: x",
      "upgrade: h2c",
      "http2-settings: x",
      "expect: 100-continue",
      "x-hamlet-depth: 0",
      "X-Hamlet-Anything: 1",
    ]
    const client = await fixture.get(
      `${url}/`,
      `${[...dropped, "x-kept: 1", "cookie: a=b", "cookie: c=d"].join("\r\n")}\r\n`,
    )
    expect(linesOf(upstream.received()).slice(2)).toEqual([
      "x-kept: 1",
      "cookie: a=b",
      "cookie: c=d",
    ])
    expect(linesOf(client.text)).toEqual([
      "HTTP/1.1 200 ",
      "x-c: 2",
      "connection: close",
      "content-length: 1",
    ])
  })

  test.each([
    ["a length", "content-length: 6\r\n\r\nabcdef", "content-length: 6\r\n\r\nabcdef"],
    ["no length", "\r\n", "content-length: 0\r\n\r\n"],
    [
      "chunks",
      "transfer-encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nx: y\r\n\r\n",
      "transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ],
    [
      "an empty body in chunks",
      "transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      "transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
  ])("with its body: %s", async (_, sent, heard) => {
    const { fixture, upstream, url } = open(
      (socket, text) => text.endsWith(heard) && socket.write(toResponse("x")),
    )
    expect((await fixture.send(`POST ${url}/ HTTP/1.1\r\n${sent}`)).status).toBe(200)
    expect(upstream.received()).toEndWith(`\r\n${heard}`)
  })

  test("after setClient, and not before", async () => {
    const { fixture, upstream, url } = open((socket) => socket.write(toResponse("x")), {
      isLate: true,
    })
    const client = await fixture.connect()
    client.send(`POST ${url}/ HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc`)
    await waitUntil(() => fixture.listener.sizes.requests === 1)
    expect(upstream.sockets.length).toBe(0)
    fixture.listener.setClient(fixture.guest)
    await client.responded()
    expect(client.status).toBe(200)
  })

  test("with the values of secrets for its host, and logs why one was not replaced", async () => {
    const port = () => upstream?.port
    const { fixture, url } = open((socket) => socket.write(toResponse("x")), {
      decide: (hostname) => ({
        kind: "pass",
        addresses: ["127.0.0.1"],
        isAllowed: hostname === "a.test",
      }),
      guest: {
        get substitutions() {
          return [
            {
              placeholder: "hamlet-secret:KEY",
              value: "s3cret",
              hosts: [`a.test:${port()}`, `b.test:${port()}`],
            },
          ]
        },
      },
    })
    await fixture.get(`${url}/hamlet-secret:KEY`, "authorization: Bearer hamlet-secret:KEY\r\n")
    expect(upstream?.received()).toContain("GET /hamlet-secret:KEY HTTP/1.1")
    expect(upstream?.received()).toContain("authorization: Bearer s3cret\r\n")
    await fixture.get(
      `${url.replace("a.test", "c.test")}/`,
      "authorization: Bearer hamlet-secret:KEY\r\n",
    )
    expect(upstream?.received(1)).toContain("authorization: Bearer hamlet-secret:KEY\r\n")
    expect(fixture.warnings).toEqual([])
    await fixture.get(
      `${url.replace("a.test", "b.test")}/`,
      "authorization: Bearer hamlet-secret:KEY\r\n",
    )
    expect(upstream?.received(2)).toContain("authorization: Bearer hamlet-secret:KEY\r\n")
    expect(fixture.warnings).toEqual([expect.stringContaining("the request is not encrypted")])
  })
})

describe("ProxiedRequest forwards a response", () => {
  test.each([
    ["with a length", "content-length: 5\r\n\r\nhello", ["content-length: 5"], "hello"],
    [
      "in chunks",
      "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      ["transfer-encoding: chunked"],
      "5\r\nhello\r\n0\r\n\r\n",
    ],
    ["that is empty", "content-length: 0\r\n\r\n", ["content-length: 0"], ""],
  ])("%s", async (_, said, lines, body) => {
    const { fixture, url } = open((socket) => socket.write(`HTTP/1.1 203 Some Words\r\n${said}`))
    const client = await fixture.get(`${url}/`)
    expect([...linesOf(client.text), client.body]).toEqual(["HTTP/1.1 203 ", ...lines, body])
  })

  test("that ends with its connection, as chunks", async () => {
    const { fixture, url } = open((socket) => socket.end("HTTP/1.1 200 OK\r\nx: y\r\n\r\nhello"))
    const client = await fixture.get(`${url}/`)
    expect([client.header("transfer-encoding"), client.body]).toEqual([
      "chunked",
      "5\r\nhello\r\n0\r\n\r\n",
    ])
  })

  test("of HTTP/1.0, and does not reuse its connection", async () => {
    const { fixture, upstream, url } = open((socket) =>
      socket.write("HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello"),
    )
    const client = await fixture.get(`${url}/`)
    expect([client.status, client.body]).toEqual([200, "hello"])
    await waitUntil(() => upstream.closed === 1)
  })

  test("to HEAD, with the length of the response to GET and without a body", async () => {
    const { fixture, url } = open((socket) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n"),
    )
    const client = await fixture.connect()
    for (let count = 1; count <= 2; count++) {
      client.send(`HEAD ${url}/ HTTP/1.1\r\n\r\n`)
      await client.until(() => countRequests(client.text) === count)
    }
    expect(client.text).toBe("HTTP/1.1 200 \r\ncontent-length: 500\r\n\r\n".repeat(2))
  })

  test.each([204, 304])("without a body, with status %d", async (status) => {
    const { fixture, url } = open((socket) =>
      socket.write(`HTTP/1.1 ${status} No\r\netag: x\r\n\r\n`),
    )
    const client = await fixture.connect()
    for (let count = 1; count <= 2; count++) {
      client.send(toGet(`${url}/`))
      await client.until(() => countRequests(client.text) === count)
    }
    expect(client.text).toBe(`HTTP/1.1 ${status} \r\netag: x\r\n\r\n`.repeat(2))
  })

  test("after interim responses", async () => {
    const { fixture, url } = open((socket) =>
      socket.write(
        `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${toResponse("x")}`,
      ),
    )
    const client = await fixture.get(`${url}/`)
    expect([client.status, client.body, client.header("link")]).toEqual([200, "x", undefined])
  })

  test("with a redirect, which it does not follow", async () => {
    const { fixture, upstream, url } = open((socket) =>
      socket.write(toResponse("", "location: http://127.0.0.1/\r\n", "302 Found")),
    )
    const client = await fixture.get(`${url}/`)
    expect([client.status, client.header("location"), upstream.sockets.length]).toEqual([
      302,
      "http://127.0.0.1/",
      1,
    ])
  })

  test("before the request is complete, and does not send the rest", async () => {
    const { fixture, upstream, url } = open(
      (socket) =>
        socket.data.bytes < 1000 && socket.write(toResponse("enough", "", "413 Too Large")),
    )
    const client = await fixture.send(`POST ${url}/ HTTP/1.1\r\ncontent-length: 10000\r\n\r\nabc`)
    expect([client.status, client.body]).toEqual([413, "enough"])
    await waitUntil(() => upstream.closed === 1)
    client.send("x".repeat(9997))
    client.send(toGet(`${url}/`))
    await client.until(() => client.text.split("enough").length === 3)
  })
})

describe("ProxiedRequest responds with a sentence when", () => {
  const close =
    (text: string) => (socket: Parameters<ConstructorParameters<typeof UpstreamServer>[0]>[0]) =>
      socket.end(text)
  test.each([
    ["nothing", "", 502, "has closed the connection before the end of its response"],
    [
      "half a head",
      "HTTP/1.1 200 OK\r\nx",
      502,
      "has closed the connection before the end of its response",
    ],
    ["rubbish", "rubbish\r\n\r\n", 502, "sent an invalid response: it is not an HTTP/1.1 response"],
    [
      "the status of an upgrade that was not requested",
      "HTTP/1.1 101 X\r\n\r\n",
      502,
      "sent an invalid response: its status is 101",
    ],
    [
      "two lengths",
      "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx",
      502,
      "its content-length is invalid",
    ],
    [
      "a head without an end",
      `HTTP/1.1 200 OK\r\nx: ${"y".repeat(70_000)}`,
      502,
      "its head has more than 65536 bytes",
    ],
    [
      "chunks in an old version",
      "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      502,
      "its body is chunked",
    ],
  ])("the server sends %s", async (_, said, status, reason) => {
    const { fixture, url } = open(close(said))
    const client = await fixture.get(`${url}/path?secret=1`)
    expect([client.status, client.header("x-hamlet-blocked")]).toEqual([status, "1"])
    expect(client.body).toStartWith(`Cannot fetch "${url}/path": a.test:${upstream?.port} `)
    expect(client.body).toContain(reason)
    await waitUntil(() => fixture.sent.length === 1)
    expect(fixture.sent[0]).toMatchObject({
      status: null,
      blocked: expect.stringContaining(reason),
    })
  })

  test("the server refuses connections", async () => {
    const { fixture, upstream, url } = open(() => {})
    upstream.stop()
    const client = await fixture.get(`${url}/`)
    expect([client.status, client.body]).toEqual([
      502,
      `Cannot fetch "${url}/": a.test:${upstream.port} refuses connections`,
    ])
  })

  test("the policy blocks the host", async () => {
    const reason = "10.0.0.1 is a private address"
    const { fixture } = open(() => {}, { decide: () => ({ kind: "blocked", reason }) })
    const client = await fixture.get(`http://10.0.0.1/${"x".repeat(500)}`)
    expect([client.status, client.body]).toEqual([
      403,
      `Cannot fetch "http://10.0.0.1/${"x".repeat(183)}\xe2\x80\xa6": ${reason}`,
    ])
    // Nothing is wrong with the connection.
    client.send(toGet("http://10.0.0.2/"))
    await client.until(() => client.text.endsWith(`Cannot fetch "http://10.0.0.2/": ${reason}`))
  })

  test("the policy blocks a HEAD, without a body", async () => {
    const { fixture } = open(() => {}, { decide: () => ({ kind: "blocked", reason: "no" }) })
    const client = await fixture.connect()
    client.send("HEAD http://a.test/ HTTP/1.1\r\n\r\n")
    await client.until(() => countRequests(client.text) === 1)
    expect([client.status, client.body]).toEqual([403, ""])
  })

  test("the policy throws", async () => {
    const { fixture } = open(() => {}, {
      decide: () => {
        throw new Error("a bug")
      },
    })
    const client = await fixture.get("http://a.test/")
    expect([client.status, client.header("x-hamlet-blocked")]).toEqual([502, "1"])
    expect(fixture.errors.splice(0)).toEqual([new Error("a bug")])
  })

  test("no head was sent yet, and otherwise closes the connection", async () => {
    const { fixture, url } = open((socket) =>
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"),
    )
    const client = await fixture.get(`${url}/`)
    await client.until(() => client.isClosed)
    expect(client.text).toBe("HTTP/1.1 200 \r\ncontent-length: 10\r\n\r\nabc")
    expect(fixture.sent[0]).toMatchObject({
      status: 200,
      blocked: expect.stringContaining("closed the connection"),
    })
  })
})

describe("ProxiedRequest connects to the addresses of its route, which", () => {
  test("are tried in order", async () => {
    const asked: string[] = []
    const { fixture, url } = open((socket) => socket.write(toResponse("x")), {
      decide: (hostname) => {
        asked.push(hostname)
        return {
          kind: "pass",
          addresses: ["127.0.0.2", "127.0.0.3", "127.0.0.1"],
          isAllowed: false,
        }
      },
    })
    expect((await fixture.get(`${url}/`)).status).toBe(200)
    expect(asked).toEqual(["a.test"])
  })

  test("are limited in number", async () => {
    const { fixture, url } = open((socket) => socket.write(toResponse("x")), {
      limits: { addressesMax: 2 },
      decide: () => ({
        kind: "pass",
        addresses: ["127.0.0.2", "127.0.0.3", "127.0.0.1"],
        isAllowed: false,
      }),
    })
    expect((await fixture.get(`${url}/`)).body).toContain("refuses connections")
  })

  test("decide which connection is reused", async () => {
    let addresses = ["127.0.0.1"]
    const { fixture, upstream, url } = open((socket) => socket.write(toResponse("x")), {
      decide: () => ({ kind: "pass", addresses, isAllowed: false }),
    })
    await fixture.get(`${url}/`)
    await fixture.get(`${url}/`)
    expect(upstream.sockets.length).toBe(1)
    addresses = ["127.0.0.2"]
    expect((await fixture.get(`${url}/`)).status).toBe(502)
    addresses = ["127.0.0.2", "127.0.0.1"]
    await fixture.get(`${url}/`)
    expect(upstream.sockets.length).toBe(1)
  })
})

describe("UpstreamConnection", () => {
  test("is reused for the same host and port, but not by another listener", async () => {
    const { fixture, upstream, url } = open((socket, text) =>
      socket.write(toResponse(`${socket.data.index}/${countRequests(text)}`)),
    )
    const bodies = async (...urls: string[]) => {
      const all: string[] = []
      for (const url of urls) all.push((await fixture.get(url)).body)
      return all
    }
    expect(await bodies(url, url, url.replace("a.test", "b.test"), url)).toEqual([
      "0/1",
      "0/2",
      "1/1",
      "0/3",
    ])
    const other = fixture.egress.open({ requests: `${fixture.path}2` })
    other.setClient(fixture.guest)
    const { RawClient } = await import("./testing/raw-client.ts")
    const client = await RawClient.open(`${fixture.path}2`)
    client.send(toGet(url))
    await client.responded()
    expect([client.body, upstream.sockets.length]).toEqual(["2/1", 3])
    client.stop()
  })

  test("is closed when it has been idle for too long", async () => {
    const { fixture, upstream, url } = open((socket) => socket.write(toResponse("x")), {
      limits: { pooledMsMax: 20 },
    })
    await fixture.get(url)
    await waitUntil(() => upstream.closed === 1)
    expect(fixture.listener.sizes.upstreams).toBe(0)
  })

  test("is closed when too many are idle", async () => {
    const { fixture, upstream, url } = open((socket) => socket.write(toResponse("x")), {
      limits: { pooledMax: 2 },
    })
    for (const host of ["a", "b", "c"]) await fixture.get(url.replace("a.test", `${host}.test`))
    await waitUntil(() => upstream.closed === 1)
    expect(fixture.listener.sizes.upstreams).toBe(2)
  })

  test("that is stale is replaced once, for requests that can be sent twice", async () => {
    let answers = 1
    const { fixture, upstream, url } = open(
      (socket) => (answers-- > 0 ? socket.write(toResponse("x")) : socket.terminate()),
      { limits: { freshMsMax: 60_000 } },
    )
    expect((await fixture.get(url)).body).toBe("x")
    const client = await fixture.get(url)
    expect([client.status, upstream.sockets.length]).toEqual([502, 2])
    answers = 1
    expect((await fixture.get(url)).body).toBe("x")
    answers = 0
    const post = await fixture.send(`POST ${url} HTTP/1.1\r\ncontent-length: 1\r\n\r\nx`)
    expect([post.status, post.body, upstream.sockets.length]).toEqual([
      502,
      `Cannot fetch "${url}/": a.test:${upstream.port} has closed the connection`,
      3,
    ])
  })

  test("that is not fresh carries no request that cannot be sent twice", async () => {
    const { fixture, upstream, url } = open((socket) => socket.write(toResponse("x")), {
      limits: { freshMsMax: -1 },
    })
    await fixture.get(url)
    await fixture.send(`POST ${url} HTTP/1.1\r\ncontent-length: 1\r\n\r\nx`)
    expect(upstream.sockets.length).toBe(2)
    await fixture.get(url)
    expect(upstream.sockets.length).toBe(2)
  })

  test.each([
    ["has sent more than the response", `${toResponse("x")}HTTP/1.1 200 OK\r\n`],
    ["wants to close", toResponse("x", "connection: close\r\n")],
  ])("is not reused when the server %s", async (_, said) => {
    const { fixture, upstream, url } = open((socket) => socket.write(said))
    await fixture.get(url)
    await fixture.get(url)
    expect(upstream.sockets.length).toBe(2)
  })

  test("is closed when the server sends bytes without a request", async () => {
    const { fixture, upstream, url } = open((socket) => socket.write(toResponse("x")))
    await fixture.get(url)
    upstream.sockets[0]?.write(toResponse("forged"))
    await waitUntil(() => fixture.listener.sizes.upstreams === 0)
    expect((await fixture.get(url)).body).toBe("x")
  })
})

describe("ProxiedRequest to this server", () => {
  const own = (more: ProxyFixtureOptions["own"] = {}): ProxyFixtureOptions => ({
    own: {
      isApiHost: (host) => host === "hamlet.test",
      isProgramHost: (host) => host === "ada-hello.hamlet.test",
      address: () => upstream && { hostname: "127.0.0.1", port: upstream.port },
      ...more,
    },
    decide: () => ({ kind: "blocked", reason: "the policy was asked" }),
  })

  test("calls the API in this process", async () => {
    const seen: [string, string, string | null, string | null, string][] = []
    const accounts: string[] = []
    const { fixture } = open(
      () => {},
      own({
        async fetchApi(request, accountId) {
          const { method, url, headers } = request
          accounts.push(accountId)
          seen.push([
            method,
            url,
            headers.get("authorization"),
            headers.get(depthHeader),
            await request.text(),
          ])
          return Response.json({ ok: true }, { status: 201, headers: [["set-cookie", "a=b"]] })
        },
      }),
    )
    const head = `POST http://hamlet.test/v1/x?y HTTP/1.1\r\nx-hamlet-run: ${egressKey} run-1\r\nx-hamlet-depth: 0\r\nauthorization: Bearer t\r\n`
    const client = await fixture.send(`${head}content-length: 5\r\n\r\nhello`)
    expect(seen).toEqual([["POST", "http://hamlet.test/v1/x?y", "Bearer t", "4", "hello"]])
    expect(accounts).toEqual(["ada"])
    expect([client.status, client.header("set-cookie"), client.body]).toEqual([
      201,
      "a=b",
      '{"ok":true}',
    ])
    expect(fixture.sent).toMatchObject([{ method: "POST", status: 201, blocked: null }])
  })

  test("streams in both directions", async () => {
    const gate = Promise.withResolvers<void>()
    const { fixture } = open(
      () => {},
      own({
        fetchApi: async (request) => {
          const reader = (request.body as ReadableStream<Uint8Array>).getReader()
          const first = Buffer.from((await reader.read()).value ?? []).toString()
          return new Response(
            new ReadableStream({
              async start(controller) {
                controller.enqueue(Buffer.from(`heard ${first}`))
                await gate.promise
                const { value } = await reader.read()
                controller.enqueue(Buffer.from(`, then ${Buffer.from(value ?? [])}`))
                controller.close()
              },
            }),
          )
        },
      }),
    )
    const client = await fixture.connect()
    client.send(
      "POST http://hamlet.test/ HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
    )
    await client.until(() => client.text.includes("heard abc"))
    client.send("3\r\ndef\r\n0\r\n\r\n")
    gate.resolve()
    await client.responded()
    expect(client.text).toContain(", then def")
  })

  test.each([
    ["fails", () => Promise.reject(new Error("a bug")), 502],
    ["responds without a body", async () => new Response(null, { status: 204 }), 204],
    [
      "receives a HEAD",
      async () => new Response("hello", { headers: { "content-length": "5" } }),
      200,
    ],
    [
      "sends a content-length that is longer than its body",
      async () => new Response(pour("x", 1), { headers: { "content-length": "100000" } }),
      200,
    ],
  ])("handles an API that %s", async (title, fetchApi, status) => {
    const { fixture } = open(() => {}, own({ fetchApi }))
    const client = await fixture.connect()
    client.send(`${title.includes("HEAD") ? "HEAD" : "GET"} http://hamlet.test/ HTTP/1.1\r\n\r\n`)
    await client.until(() => countRequests(client.text) === 1)
    expect(client.status).toBe(status)
    if (title.includes("longer")) await client.until(() => client.isClosed)
    const isFault = title.includes("fails") || title.includes("longer")
    expect(fixture.errors.splice(0).length).toBe(isFault ? 1 : 0)
  })

  test("refuses an invalid request to the API", async () => {
    const { fixture } = open(() => {}, own())
    const client = await fixture.send("BREW http://hamlet.test/ HTTP/1.1\r\n\r\n")
    expect([client.status, client.header("x-hamlet-blocked")]).toEqual([400, "1"])
  })

  test("aborts the call when the client has gone", async () => {
    const aborted = Promise.withResolvers<void>()
    const cancelled = Promise.withResolvers<void>()
    const { fixture } = open(
      () => {},
      own({
        fetchApi: async ({ signal }) => {
          signal.addEventListener("abort", () => aborted.resolve())
          return new Response(
            new ReadableStream({
              pull: (it) => it.enqueue(Buffer.from("x")),
              cancel: () => cancelled.resolve(),
            }),
          )
        },
      }),
    )
    const client = await fixture.connect()
    client.isCounting = true
    client.send(toGet("http://hamlet.test/"))
    await client.until(() => client.bytes > 0)
    client.stop()
    await Promise.all([aborted.promise, cancelled.promise])
    await waitUntil(() => fixture.listener.sizes.requests === 0)
  })

  test("connects to the address of this server for a program", async () => {
    const { fixture, upstream } = open(
      (socket) => socket.write(toResponse("val", "x-hamlet-blocked: 1\r\n")),
      own(),
    )
    const client = await fixture.get("https://ada-hello.hamlet.test/x")
    expect([client.status, client.body, client.header("x-hamlet-blocked")]).toEqual([
      200,
      "val",
      undefined,
    ])
    expect(linesOf(upstream.received())).toEqual([
      "GET /x HTTP/1.1",
      "host: ada-hello.hamlet.test",
      `${depthHeader}: 4`,
    ])
  })

  test("is refused while this server does not listen", async () => {
    const { fixture } = open(() => {}, own({ address: () => undefined }))
    expect((await fixture.get("http://ada-hello.hamlet.test/")).body).toEndWith(
      ": this server does not listen yet",
    )
  })

  test.each([["hamlet.test"], ["ada-hello.hamlet.test"]])(
    "is refused at the end of a chain: %s",
    async (host) => {
      let depth = depthMax - 1
      const { fixture } = open((socket) => socket.write(toResponse("x")), {
        ...own(),
        guest: { findRun: () => ({ run: undefined, depth }) },
      })
      expect((await fixture.get(`http://${host}/`)).status).toBe(200)
      depth = depthMax
      const client = await fixture.get(`http://${host}/`)
      expect([client.status, client.body]).toEqual([
        508,
        `Cannot fetch "http://${host}/": programs have called one another ${depthMax} times already`,
      ])
    },
  )

  test("does not include other ports and names", async () => {
    const { fixture } = open(() => {}, own())
    expect((await fixture.get("http://hamlet.test:81/")).body).toEndWith("the policy was asked")
    expect((await fixture.get("http://hamlet.test./")).body).toEndWith("the policy was asked")
  })
})

function pour(text: string, times: number): ReadableStream<Uint8Array> {
  let left = times
  return new ReadableStream({
    pull(controller) {
      if (left-- > 0) controller.enqueue(Buffer.from(text))
      else controller.close()
    },
  })
}

describe("ProxiedRequest records on its run", () => {
  test("each request and its outcome", async () => {
    const { fixture, url } = open(
      (socket, text) => text.endsWith("hello") && socket.write(toResponse("good day")),
    )
    const before = Date.now()
    const head = `POST ${url}/x?token=s3cret HTTP/1.1\r\nx-hamlet-run: ${egressKey} run-1\r\ncontent-length: 5\r\n\r\n`
    const client = await fixture.send(`${head}hello`)
    const [sent] = fixture.sent
    expect(fixture.sent).toEqual([
      {
        at: expect.any(Number),
        method: "POST",
        url: `${url}/x?token=***`,
        status: 200,
        blocked: null,
        bytesSent: head.length - 4 + 5,
        bytesReceived: client.text.length,
        durationMs: expect.any(Number),
      },
    ])
    expect(sent?.at).toBeGreaterThanOrEqual(before)
  })

  test.each([
    ["with another key", "x-hamlet-run: another-key run-1\r\n"],
    ["with a key that begins alike", `x-hamlet-run: ${egressKey}x run-1\r\n`],
    ["without a key", "x-hamlet-run: run-1\r\n"],
    ["of a run that is not there", `x-hamlet-run: ${egressKey} run-2\r\n`],
    ["without the header", ""],
  ])("no request %s", async (_, header) => {
    const { fixture, upstream, url } = open((socket) => socket.write(toResponse("x")))
    const { status } = await fixture.send(`GET ${url}/ HTTP/1.1\r\n${header}\r\n`)
    expect([fixture.sent, status]).toEqual([[], 200])
    expect(upstream.received()).not.toContain("x-hamlet")
  })

  test("a request with the right key after a forged one", async () => {
    const { fixture, url } = open((socket) => socket.write(toResponse("x")))
    await fixture.send(
      `GET ${url}/ HTTP/1.1\r\nx-hamlet-run: forged run-1\r\nx-hamlet-run: ${egressKey} run-1\r\n\r\n`,
    )
    expect(fixture.sent.length).toBe(1)
  })

  test("a request that the program has cancelled, as not blocked", async () => {
    const { fixture, upstream, url } = open(() => {})
    const client = await fixture.connect()
    client.send(toGet(`${url}/`))
    await waitUntil(() => upstream.received() !== "")
    client.stop()
    await waitUntil(() => upstream.closed === 1)
    expect(fixture.sent).toMatchObject([{ status: null, blocked: null }])
  })

  test("the beginning of a long URL", async () => {
    const { fixture } = open(() => {}, {
      decide: () => ({ kind: "blocked", reason: "no" }),
      limits: { listedUrlCharsMax: 30 },
    })
    await fixture.get(`http://a.test/${"x".repeat(100)}`)
    expect(fixture.sent).toMatchObject([
      { url: `http://a.test/${"x".repeat(15)}…`, blocked: "no", bytesSent: 0, bytesReceived: 0 },
    ])
  })

  test("nothing when findRun throws, and refuses the request", async () => {
    const { fixture, url } = open((socket) => socket.write(toResponse("x")), {
      guest: {
        findRun() {
          throw new Error("a bug")
        },
      },
    })
    expect((await fixture.get(`${url}/`)).status).toBe(502)
    expect(fixture.errors.splice(0)).toEqual([new Error("a bug")])
    expect(fixture.listener.sizes.requests).toBe(0)
  })

  test("nothing when mask throws, and forwards the response", async () => {
    const { fixture, url } = open((socket) => socket.write(toResponse("x")), {
      guest: {
        mask() {
          throw new Error("a bug")
        },
      },
    })
    expect((await fixture.get(`${url}/`)).body).toBe("x")
    expect(fixture.errors.splice(0)).toEqual([new Error("a bug")])
  })
})

describe("EgressLimits: there is a limit", () => {
  test("on concurrent requests", async () => {
    const { fixture, upstream, url } = open(() => {}, { limits: { connectionsMax: 2 } })
    const clients = [await fixture.connect(), await fixture.connect()]
    for (const client of clients) client.send(toGet(`${url}/`))
    await waitUntil(() => upstream.sockets.length === 2)
    const refused = await fixture.get(`${url}/`)
    expect([refused.status, refused.body]).toEqual([
      429,
      `Cannot fetch "${url}/": the program has 2 outgoing requests open already`,
    ])
    clients[0]?.stop()
    await waitUntil(() => fixture.listener.sizes.requests === 1)
    const next = await fixture.connect()
    next.send(toGet(`${url}/`))
    await waitUntil(() => upstream.sockets.length === 3)
  })

  test("on requests per minute, except to the API, which has its own", async () => {
    const { fixture, url } = open((socket) => socket.write(toResponse("x")), {
      limits: { requestsPerMinute: 2 },
      own: { isApiHost: (host) => host === "hamlet.test" },
    })
    const statuses: number[] = []
    for (const target of [url, "http://hamlet.test", url, url, "http://hamlet.test"])
      statuses.push((await fixture.get(`${target}/`)).status)
    expect(statuses).toEqual([200, 200, 200, 429, 200])
    expect(fixture.sent[3]?.blocked).toBe("the program sends more than 2 requests a minute")
  })

  test("on the bytes of a request, with and without a length", async () => {
    const { fixture, upstream, url } = open(
      (socket, text) => text.includes("x".repeat(5000)) && socket.write(toResponse("x")),
      {
        limits: { bytesMax: 10_000 },
      },
    )
    const post = (framing: string, body: string) =>
      fixture.send(
        `POST ${url}/ HTTP/1.1\r\nx-hamlet-run: ${egressKey} run-1\r\n${framing}\r\n\r\n${body}`,
      )
    expect((await post("content-length: 5000", "x".repeat(5000))).status).toBe(200)
    expect((await post("content-length: 20000", "x".repeat(20_000))).status).toBe(403)
    expect(
      (await post("transfer-encoding: chunked", `4e20\r\n${"x".repeat(20_000)}\r\n0\r\n\r\n`)).body,
    ).toEndWith(": it has more than 10000 bytes")
    expect(fixture.sent.map(({ blocked }) => blocked)).toEqual([
      null,
      "it has more than 10000 bytes",
      "it has more than 10000 bytes",
    ])
    expect(upstream.sockets.some(({ data }) => data.bytes > 10_000)).toBe(false)
  })

  test("on the bytes of a response, which is broken off", async () => {
    const { fixture, upstream, url } = open(
      (socket, text) =>
        socket.write(
          text.includes("/whole")
            ? toResponse("x".repeat(20_000))
            : `HTTP/1.1 200 OK\r\n\r\n${"x".repeat(5000)}`,
        ) && setImmediate(() => socket.write("x".repeat(20_000))),
      { limits: { bytesMax: 10_000 } },
    )
    const whole = await fixture.get(`${url}/whole`)
    expect([whole.status, whole.body]).toEqual([
      403,
      `Cannot fetch "${url}/whole": the response has more than 10000 bytes`,
    ])
    const stream = await fixture.get(`${url}/stream`)
    await stream.until(() => stream.isClosed)
    expect(stream.text.length).toBeLessThan(10_000)
    expect(fixture.sent.map(({ status, blocked }) => [status, blocked])).toEqual([
      [null, "the response has more than 10000 bytes"],
      [200, "the response has more than 10000 bytes"],
    ])
    await waitUntil(() => upstream.closed === 2)
  })

  test("on the bytes of an account, which are taken at the start, in portions, and at the end", async () => {
    const taken: [string, number][] = []
    let left = 1_000_000
    const { fixture, url } = open(
      (socket, text) =>
        socket.write(toResponse("x".repeat(text.includes("/large") ? 200_000 : 100))),
      {
        takeBytes: (ownerId, bytes) => {
          taken.push([ownerId, bytes])
          left -= bytes
          if (left < 0) throw new RateLimited(7)
        },
      },
    )
    await fixture.get(`${url}/`)
    const [{ bytesSent = 0, bytesReceived = 0 } = {}] = fixture.sent
    expect(taken).toEqual([
      ["ada", bytesSent],
      ["ada", bytesReceived],
    ])
    await fixture.get(`${url}/large`)
    expect(taken.reduce((sum, [, bytes]) => sum + bytes, 0)).toBe(
      fixture.sent.reduce((sum, one) => sum + one.bytesSent + one.bytesReceived, 0),
    )
    expect(taken.length).toBeGreaterThan(4)
    left = 100_000
    const broken = await fixture.get(`${url}/large`)
    await broken.until(() => broken.isClosed)
    const reason = "the account has used up its outgoing traffic, try again in 7 s"
    expect(fixture.sent[2]).toMatchObject({ status: 200, blocked: reason })
    const refused = await fixture.get(`${url}/`)
    expect([refused.status, refused.body]).toEqual([429, `Cannot fetch "${url}/": ${reason}`])
  })

  test("on the bytes of an account, and an allowance that throws counts as used up", async () => {
    const { fixture, url } = open((socket) => socket.write(toResponse("x")), {
      takeBytes() {
        throw new Error("a bug")
      },
    })
    expect((await fixture.get(`${url}/`)).status).toBe(429)
    expect(fixture.errors.splice(0).length).toBeGreaterThan(0)
  })

  test.each([
    ["until the response", "responseMsMax", "", "has not responded for 0.1 s", null],
    ["until the end of the response", "msMax", "", "it took longer than 0.1 s", null],
    [
      "without a byte of a response",
      "idleMsMax",
      "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc",
      "no bytes were transferred for 0.1 s",
      200,
    ],
  ])("on the time %s", async (_, limit, said, reason, status) => {
    const { fixture, upstream, url } = open((socket) => socket.write(said), {
      limits: { [limit]: 100 },
    })
    const client = await fixture.get(`${url}/`)
    if (status === null)
      expect([client.status, client.body]).toEqual([
        504,
        expect.stringMatching(new RegExp(`${reason}$`)),
      ])
    else await client.until(() => client.isClosed)
    expect(fixture.sent).toMatchObject([{ status, blocked: expect.stringContaining(reason) }])
    await waitUntil(() => upstream.closed === 1)
  })

  test("on the time without a byte of a request body", async () => {
    const { fixture, upstream, url } = open(() => {}, { limits: { idleMsMax: 30 } })
    const client = await fixture.send(`POST ${url}/ HTTP/1.1\r\ncontent-length: 10\r\n\r\nabc`)
    expect([client.status, client.body]).toEqual([
      504,
      expect.stringContaining("no bytes were transferred"),
    ])
    await waitUntil(() => upstream.closed === 1)
  })
})

describe("Egress.stop", () => {
  test("closes all connections and removes the socket file", async () => {
    const { fixture, upstream, url } = open(
      (socket, text) => text.includes("/kept") && socket.write(toResponse("x")),
    )
    await fixture.get(`${url}/kept`)
    const clients = [await fixture.connect(), await fixture.connect(), await fixture.connect()]
    clients[0]?.send(toGet(`${url}/waits`))
    clients[1]?.send("GET http://a.t")
    await waitUntil(() => upstream.received().includes("/waits"))
    const { existsSync } = await import("node:fs")
    expect(existsSync(fixture.path)).toBe(true)
    fixture.listener.stop()
    fixture.listener.stop()
    expect(fixture.listener.sizes).toEqual({ clients: 0, upstreams: 0, requests: 0 })
    expect(existsSync(fixture.path)).toBe(false)
    for (const client of clients) await client.until(() => client.isClosed)
    await waitUntil(() => upstream.closed === upstream.sockets.length)
  })

  test("ends requests that wait for setClient", async () => {
    const { fixture, url } = open(() => {}, { isLate: true })
    const client = await fixture.connect()
    client.send(toGet(`${url}/`))
    await waitUntil(() => fixture.listener.sizes.requests === 1)
    await fixture.egress.stop()
    await client.until(() => client.isClosed)
    fixture.listener.setClient(fixture.guest)
    await new Promise<void>((resolve) => setImmediate(resolve))
    expect(fixture.listener.sizes).toEqual({ clients: 0, upstreams: 0, requests: 0 })
  })
})
