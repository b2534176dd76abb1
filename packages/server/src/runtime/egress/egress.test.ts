import { afterEach, describe, expect, test } from "bun:test"
import { waitUntil } from "../../../test/support/wait-until.ts"
import { depthHeader, depthMax } from "../../domain/egress.ts"
import { RateLimited } from "../../domain/limits/rate-limit.ts"
import { egressKey, Stage, type StageOptions, toGet } from "./testing/proxy-fixture.ts"
import { countRequests, Outside, say } from "./testing/upstream-server.ts"

let outside: Outside | undefined
let stage: Stage | undefined
afterEach(async () => {
  expect(stage?.errors ?? []).toEqual([])
  await stage?.stop()
  outside?.stop()
  stage = outside = undefined
})

function open(
  act: ConstructorParameters<typeof Outside>[0],
  options: StageOptions = {},
): { stage: Stage; outside: Outside; url: string } {
  outside = new Outside(act)
  stage = new Stage(options)
  return { stage, outside, url: `http://a.test:${outside.port}` }
}
const linesOf = (text: string) => text.split("\r\n\r\n", 1)[0]?.split("\r\n") ?? []

describe("a request goes out", () => {
  test("to the host of its address, whatever its header says", async () => {
    const { stage, outside, url } = open((socket) => socket.write(say("hello", "x-a: b\r\n")))
    const client = await stage.get(
      `${url}/x/../y%20z?q=1&r=ä`.replace("ä", "%C3%A4"),
      "accept: */*\r\naccept-encoding: gzip\r\n",
    )
    expect(linesOf(outside.heard())).toEqual([
      "GET /y%20z?q=1&r=%C3%A4 HTTP/1.1",
      `host: a.test:${outside.port}`,
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

  test("without headers that are for the next hop only, ours, or those of a proxy", async () => {
    const { stage, outside, url } = open((socket) =>
      socket.write(
        say(
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
    const client = await stage.get(
      `${url}/`,
      `${[...dropped, "x-kept: 1", "cookie: a=b", "cookie: c=d"].join("\r\n")}\r\n`,
    )
    expect(linesOf(outside.heard()).slice(2)).toEqual(["x-kept: 1", "cookie: a=b", "cookie: c=d"])
    expect(linesOf(client.text)).toEqual(["HTTP/1.1 200 ", "x-c: 2", "content-length: 1"])
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
    const { stage, outside, url } = open(
      (socket, text) => text.endsWith(heard) && socket.write(say("x")),
    )
    expect((await stage.ask(`POST ${url}/ HTTP/1.1\r\n${sent}`)).status).toBe(200)
    expect(outside.heard()).toEndWith(`\r\n${heard}`)
  })

  test("when it is known who is in there", async () => {
    const { stage, outside, url } = open((socket) => socket.write(say("x")), { isLate: true })
    const client = await stage.connect()
    client.send(`POST ${url}/ HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc`)
    await waitUntil(() => stage.listener.sizes.requests === 1)
    expect(outside.sockets.length).toBe(0)
    stage.listener.setClient(stage.guest)
    await client.answered()
    expect(client.status).toBe(200)
  })

  test("with the values of secrets for that host, and the run hears why one was left out", async () => {
    const port = () => outside?.port
    const { stage, url } = open((socket) => socket.write(say("x")), {
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
    await stage.get(`${url}/hamlet-secret:KEY`, "authorization: Bearer hamlet-secret:KEY\r\n")
    expect(outside?.heard()).toContain("GET /hamlet-secret:KEY HTTP/1.1")
    expect(outside?.heard()).toContain("authorization: Bearer s3cret\r\n")
    await stage.get(
      `${url.replace("a.test", "c.test")}/`,
      "authorization: Bearer hamlet-secret:KEY\r\n",
    )
    expect(outside?.heard(1)).toContain("authorization: Bearer hamlet-secret:KEY\r\n")
    expect(stage.warnings).toEqual([])
    await stage.get(
      `${url.replace("a.test", "b.test")}/`,
      "authorization: Bearer hamlet-secret:KEY\r\n",
    )
    expect(outside?.heard(2)).toContain("authorization: Bearer hamlet-secret:KEY\r\n")
    expect(stage.warnings).toEqual([expect.stringContaining("the request is not encrypted")])
  })
})

describe("an answer comes in", () => {
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
    const { stage, url } = open((socket) => socket.write(`HTTP/1.1 203 Some Words\r\n${said}`))
    const client = await stage.get(`${url}/`)
    expect([...linesOf(client.text), client.body]).toEqual(["HTTP/1.1 203 ", ...lines, body])
  })

  test("that ends with its connection, in chunks", async () => {
    const { stage, url } = open((socket) => socket.end("HTTP/1.1 200 OK\r\nx: y\r\n\r\nhello"))
    const client = await stage.get(`${url}/`)
    expect([client.header("transfer-encoding"), client.body]).toEqual([
      "chunked",
      "5\r\nhello\r\n0\r\n\r\n",
    ])
  })

  test("of HTTP/1.0, whose connection is not used again", async () => {
    const { stage, outside, url } = open((socket) =>
      socket.write("HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello"),
    )
    const client = await stage.get(`${url}/`)
    expect([client.status, client.body]).toEqual([200, "hello"])
    await waitUntil(() => outside.closed === 1)
  })

  test("to HEAD, with the length that a GET has, and none of its bytes", async () => {
    const { stage, url } = open((socket) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n"),
    )
    const client = await stage.connect()
    for (let count = 1; count <= 2; count++) {
      client.send(`HEAD ${url}/ HTTP/1.1\r\n\r\n`)
      await client.until(() => countRequests(client.text) === count)
    }
    expect(client.text).toBe("HTTP/1.1 200 \r\ncontent-length: 500\r\n\r\n".repeat(2))
  })

  test.each([204, 304])("that has no body, with status %d", async (status) => {
    const { stage, url } = open((socket) =>
      socket.write(`HTTP/1.1 ${status} No\r\netag: x\r\n\r\n`),
    )
    const client = await stage.connect()
    for (let count = 1; count <= 2; count++) {
      client.send(toGet(`${url}/`))
      await client.until(() => countRequests(client.text) === count)
    }
    expect(client.text).toBe(`HTTP/1.1 ${status} \r\netag: x\r\n\r\n`.repeat(2))
  })

  test("behind others that are only interim", async () => {
    const { stage, url } = open((socket) =>
      socket.write(
        `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${say("x")}`,
      ),
    )
    const client = await stage.get(`${url}/`)
    expect([client.status, client.body, client.header("link")]).toEqual([200, "x", undefined])
  })

  test("with a redirect that nobody follows here", async () => {
    const { stage, outside, url } = open((socket) =>
      socket.write(say("", "location: http://127.0.0.1/\r\n", "302 Found")),
    )
    const client = await stage.get(`${url}/`)
    expect([client.status, client.header("location"), outside.sockets.length]).toEqual([
      302,
      "http://127.0.0.1/",
      1,
    ])
  })

  test("before all of the request is there, and the rest is not sent", async () => {
    const { stage, outside, url } = open(
      (socket) => socket.data.bytes < 1000 && socket.write(say("enough", "", "413 Too Large")),
    )
    const client = await stage.ask(`POST ${url}/ HTTP/1.1\r\ncontent-length: 10000\r\n\r\nabc`)
    expect([client.status, client.body]).toEqual([413, "enough"])
    await waitUntil(() => outside.closed === 1)
    client.send("x".repeat(9997))
    client.send(toGet(`${url}/`))
    await client.until(() => client.text.split("enough").length === 3)
  })
})

describe("what cannot be answered is told in a sentence:", () => {
  const close =
    (text: string) => (socket: Parameters<ConstructorParameters<typeof Outside>[0]>[0]) =>
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
      "a status of an upgrade that nobody asked for",
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
  ])("%s", async (_, said, status, reason) => {
    const { stage, url } = open(close(said))
    const client = await stage.get(`${url}/path?secret=1`)
    expect([client.status, client.header("x-hamlet-blocked")]).toEqual([status, "1"])
    expect(client.body).toStartWith(`Cannot fetch "${url}/path": a.test:${outside?.port} `)
    expect(client.body).toContain(reason)
    await waitUntil(() => stage.sent.length === 1)
    expect(stage.sent[0]).toMatchObject({ status: null, blocked: expect.stringContaining(reason) })
  })

  test("nobody is there", async () => {
    const { stage, outside, url } = open(() => {})
    outside.stop()
    const client = await stage.get(`${url}/`)
    expect([client.status, client.body]).toEqual([
      502,
      `Cannot fetch "${url}/": a.test:${outside.port} refuses connections`,
    ])
  })

  test("the policy says no", async () => {
    const reason = "10.0.0.1 is a private address"
    const { stage } = open(() => {}, { decide: () => ({ kind: "blocked", reason }) })
    const client = await stage.get(`http://10.0.0.1/${"x".repeat(500)}`)
    expect([client.status, client.body]).toEqual([
      403,
      `Cannot fetch "http://10.0.0.1/${"x".repeat(183)}\xe2\x80\xa6": ${reason}`,
    ])
    // Nothing is wrong with the connection.
    client.send(toGet("http://10.0.0.2/"))
    await client.until(() => client.text.endsWith(`Cannot fetch "http://10.0.0.2/": ${reason}`))
  })

  test("a HEAD has no sentence", async () => {
    const { stage } = open(() => {}, { decide: () => ({ kind: "blocked", reason: "no" }) })
    const client = await stage.connect()
    client.send("HEAD http://a.test/ HTTP/1.1\r\n\r\n")
    await client.until(() => countRequests(client.text) === 1)
    expect([client.status, client.body]).toEqual([403, ""])
  })

  test("the policy fails", async () => {
    const { stage } = open(() => {}, {
      decide: () => {
        throw new Error("a bug")
      },
    })
    const client = await stage.get("http://a.test/")
    expect([client.status, client.header("x-hamlet-blocked")]).toEqual([502, "1"])
    expect(stage.errors.splice(0)).toEqual([new Error("a bug")])
  })

  test("a head was sent already: the connection breaks", async () => {
    const { stage, url } = open((socket) =>
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"),
    )
    const client = await stage.get(`${url}/`)
    await client.until(() => client.isClosed)
    expect(client.text).toBe("HTTP/1.1 200 \r\ncontent-length: 10\r\n\r\nabc")
    expect(stage.sent[0]).toMatchObject({
      status: 200,
      blocked: expect.stringContaining("closed the connection"),
    })
  })
})

describe("the addresses that were decided on", () => {
  test("are tried in turn, and no others", async () => {
    const asked: string[] = []
    const { stage, url } = open((socket) => socket.write(say("x")), {
      decide: (hostname) => {
        asked.push(hostname)
        return {
          kind: "pass",
          addresses: ["127.0.0.2", "127.0.0.3", "127.0.0.1"],
          isAllowed: false,
        }
      },
    })
    expect((await stage.get(`${url}/`)).status).toBe(200)
    expect(asked).toEqual(["a.test"])
  })

  test("are no more than a few", async () => {
    const { stage, url } = open((socket) => socket.write(say("x")), {
      limits: { addressesMax: 2 },
      decide: () => ({
        kind: "pass",
        addresses: ["127.0.0.2", "127.0.0.3", "127.0.0.1"],
        isAllowed: false,
      }),
    })
    expect((await stage.get(`${url}/`)).body).toContain("refuses connections")
  })

  test("decide which connection is used again", async () => {
    let addresses = ["127.0.0.1"]
    const { stage, outside, url } = open((socket) => socket.write(say("x")), {
      decide: () => ({ kind: "pass", addresses, isAllowed: false }),
    })
    await stage.get(`${url}/`)
    await stage.get(`${url}/`)
    expect(outside.sockets.length).toBe(1)
    addresses = ["127.0.0.2"]
    expect((await stage.get(`${url}/`)).status).toBe(502)
    addresses = ["127.0.0.2", "127.0.0.1"]
    await stage.get(`${url}/`)
    expect(outside.sockets.length).toBe(1)
  })
})

describe("connections to the outside", () => {
  test("are used again for the same host and port, and not by another door", async () => {
    const { stage, outside, url } = open((socket, text) =>
      socket.write(say(`${socket.data.index}/${countRequests(text)}`)),
    )
    const bodies = async (...urls: string[]) => {
      const all: string[] = []
      for (const url of urls) all.push((await stage.get(url)).body)
      return all
    }
    expect(await bodies(url, url, url.replace("a.test", "b.test"), url)).toEqual([
      "0/1",
      "0/2",
      "1/1",
      "0/3",
    ])
    const other = stage.egress.open(`${stage.path}2`)
    other.setClient(stage.guest)
    const { RawClient } = await import("./testing/raw-client.ts")
    const client = await RawClient.open(`${stage.path}2`)
    client.send(toGet(url))
    await client.answered()
    expect([client.body, outside.sockets.length]).toEqual(["2/1", 3])
    client.stop()
  })

  test("are closed when nobody has used them for a while", async () => {
    const { stage, outside, url } = open((socket) => socket.write(say("x")), {
      limits: { pooledMsMax: 20 },
    })
    await stage.get(url)
    await waitUntil(() => outside.closed === 1)
    expect(stage.listener.sizes.upstreams).toBe(0)
  })

  test("are no more than a few", async () => {
    const { stage, outside, url } = open((socket) => socket.write(say("x")), {
      limits: { pooledMax: 2 },
    })
    for (const host of ["a", "b", "c"]) await stage.get(url.replace("a.test", `${host}.test`))
    await waitUntil(() => outside.closed === 1)
    expect(stage.listener.sizes.upstreams).toBe(2)
  })

  test("that were closed in the meantime are made anew for what can be sent twice, and once", async () => {
    let answers = 1
    const { stage, outside, url } = open((socket) =>
      answers-- > 0 ? socket.write(say("x")) : socket.terminate(),
    )
    expect((await stage.get(url)).body).toBe("x")
    const client = await stage.get(url)
    expect([client.status, outside.sockets.length]).toEqual([502, 2])
    answers = 1
    expect((await stage.get(url)).body).toBe("x")
    answers = 0
    const post = await stage.ask(`POST ${url} HTTP/1.1\r\ncontent-length: 1\r\n\r\nx`)
    expect([post.status, post.body, outside.sockets.length]).toEqual([
      502,
      `Cannot fetch "${url}/": a.test:${outside.port} has closed the connection`,
      3,
    ])
  })

  test("that are not fresh carry nothing that cannot be sent twice", async () => {
    const { stage, outside, url } = open((socket) => socket.write(say("x")), {
      limits: { freshMsMax: -1 },
    })
    await stage.get(url)
    await stage.ask(`POST ${url} HTTP/1.1\r\ncontent-length: 1\r\n\r\nx`)
    expect(outside.sockets.length).toBe(2)
    await stage.get(url)
    expect(outside.sockets.length).toBe(2)
  })

  test.each([
    ["said more than was asked", `${say("x")}HTTP/1.1 200 OK\r\n`],
    ["wants to close", say("x", "connection: close\r\n")],
  ])("are not used again where somebody %s", async (_, said) => {
    const { stage, outside, url } = open((socket) => socket.write(said))
    await stage.get(url)
    await stage.get(url)
    expect(outside.sockets.length).toBe(2)
  })

  test("are closed where somebody speaks without being asked", async () => {
    const { stage, outside, url } = open((socket) => socket.write(say("x")))
    await stage.get(url)
    outside.sockets[0]?.write(say("forged"))
    await waitUntil(() => stage.listener.sizes.upstreams === 0)
    expect((await stage.get(url)).body).toBe("x")
  })
})

describe("this server itself", () => {
  const own = (more: StageOptions["own"] = {}): StageOptions => ({
    own: {
      isApiHost: (host) => host === "hamlet.test",
      isValHost: (host) => host === "ada-hello.hamlet.test",
      address: () => outside && { hostname: "127.0.0.1", port: outside.port },
      ...more,
    },
    decide: () => ({ kind: "blocked", reason: "the policy was asked" }),
  })

  test("is asked in the same process, by the name of its API", async () => {
    const seen: [string, string, string | null, string | null, string][] = []
    const accounts: string[] = []
    const { stage } = open(
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
    const client = await stage.ask(`${head}content-length: 5\r\n\r\nhello`)
    expect(seen).toEqual([["POST", "http://hamlet.test/v1/x?y", "Bearer t", "4", "hello"]])
    expect(accounts).toEqual(["ada"])
    expect([client.status, client.header("set-cookie"), client.body]).toEqual([
      201,
      "a=b",
      '{"ok":true}',
    ])
    expect(stage.sent).toMatchObject([{ method: "POST", status: 201, blocked: null }])
  })

  test("streams both ways", async () => {
    const gate = Promise.withResolvers<void>()
    const { stage } = open(
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
    const client = await stage.connect()
    client.send(
      "POST http://hamlet.test/ HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
    )
    await client.until(() => client.text.includes("heard abc"))
    client.send("3\r\ndef\r\n0\r\n\r\n")
    gate.resolve()
    await client.answered()
    expect(client.text).toContain(", then def")
  })

  test.each([
    ["fails", () => Promise.reject(new Error("a bug")), 502],
    ["has no answer", async () => new Response(null, { status: 204 }), 204],
    [
      "is asked for a HEAD",
      async () => new Response("hello", { headers: { "content-length": "5" } }),
      200,
    ],
    [
      "says that its answer is longer than it is",
      async () => new Response(pour("x", 1), { headers: { "content-length": "100000" } }),
      200,
    ],
  ])("may be one that %s", async (title, fetchApi, status) => {
    const { stage } = open(() => {}, own({ fetchApi }))
    const client = await stage.connect()
    client.send(`${title.includes("HEAD") ? "HEAD" : "GET"} http://hamlet.test/ HTTP/1.1\r\n\r\n`)
    await client.until(() => countRequests(client.text) === 1)
    expect(client.status).toBe(status)
    if (title.includes("longer")) await client.until(() => client.isClosed)
    const isFault = title.includes("fails") || title.includes("longer")
    expect(stage.errors.splice(0).length).toBe(isFault ? 1 : 0)
  })

  test("refuses what is no request to an API", async () => {
    const { stage } = open(() => {}, own())
    const client = await stage.ask("BREW http://hamlet.test/ HTTP/1.1\r\n\r\n")
    expect([client.status, client.header("x-hamlet-blocked")]).toEqual([400, "1"])
  })

  test("hears when nobody waits for its answer any more", async () => {
    const aborted = Promise.withResolvers<void>()
    const cancelled = Promise.withResolvers<void>()
    const { stage } = open(
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
    const client = await stage.connect()
    client.isCounting = true
    client.send(toGet("http://hamlet.test/"))
    await client.until(() => client.bytes > 0)
    client.stop()
    await Promise.all([aborted.promise, cancelled.promise])
    await waitUntil(() => stage.listener.sizes.requests === 0)
  })

  test("is reached at its own address by the name of a val", async () => {
    const { stage, outside } = open(
      (socket) => socket.write(say("val", "x-hamlet-blocked: 1\r\n")),
      own(),
    )
    const client = await stage.get("https://ada-hello.hamlet.test/x")
    expect([client.status, client.body, client.header("x-hamlet-blocked")]).toEqual([
      200,
      "val",
      undefined,
    ])
    expect(linesOf(outside.heard())).toEqual([
      "GET /x HTTP/1.1",
      "host: ada-hello.hamlet.test",
      `${depthHeader}: 4`,
    ])
  })

  test("may not listen yet", async () => {
    const { stage } = open(() => {}, own({ address: () => undefined }))
    expect((await stage.get("http://ada-hello.hamlet.test/")).body).toEndWith(
      ": this server does not listen yet",
    )
  })

  test.each([["hamlet.test"], ["ada-hello.hamlet.test"]])(
    "ends a chain that is too long: %s",
    async (host) => {
      let depth = depthMax - 1
      const { stage } = open((socket) => socket.write(say("x")), {
        ...own(),
        guest: { findRun: () => ({ run: undefined, depth }) },
      })
      expect((await stage.get(`http://${host}/`)).status).toBe(200)
      depth = depthMax
      const client = await stage.get(`http://${host}/`)
      expect([client.status, client.body]).toEqual([
        508,
        `Cannot fetch "http://${host}/": vals have called one another ${depthMax} times already`,
      ])
    },
  )

  test("is not another server of the same machine", async () => {
    const { stage } = open(() => {}, own())
    expect((await stage.get("http://hamlet.test:81/")).body).toEndWith("the policy was asked")
    expect((await stage.get("http://hamlet.test./")).body).toEndWith("the policy was asked")
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

describe("a run hears", () => {
  test("of each of its requests, what came of it", async () => {
    const { stage, url } = open(
      (socket, text) => text.endsWith("hello") && socket.write(say("good day")),
    )
    const before = Date.now()
    const head = `POST ${url}/x?token=s3cret HTTP/1.1\r\nx-hamlet-run: ${egressKey} run-1\r\ncontent-length: 5\r\n\r\n`
    const client = await stage.ask(`${head}hello`)
    const [sent] = stage.sent
    expect(stage.sent).toEqual([
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
    expect(stage.listener.totals).toEqual({
      requests: 1,
      blocked: 0,
      bytesSent: sent?.bytesSent ?? 0,
      bytesReceived: client.text.length,
    })
  })

  test.each([
    ["with another key", "x-hamlet-run: another-key run-1\r\n"],
    ["with a key that begins alike", `x-hamlet-run: ${egressKey}x run-1\r\n`],
    ["without a key", "x-hamlet-run: run-1\r\n"],
    ["of a run that is not there", `x-hamlet-run: ${egressKey} run-2\r\n`],
    ["without the header", ""],
  ])("nothing of a request %s", async (_, header) => {
    const { stage, outside, url } = open((socket) => socket.write(say("x")))
    await stage.ask(`GET ${url}/ HTTP/1.1\r\n${header}\r\n`)
    expect([stage.sent, stage.listener.totals.requests]).toEqual([[], 1])
    expect(outside.heard()).not.toContain("x-hamlet")
  })

  test("of a request with the right key behind a forged one", async () => {
    const { stage, url } = open((socket) => socket.write(say("x")))
    await stage.ask(
      `GET ${url}/ HTTP/1.1\r\nx-hamlet-run: forged run-1\r\nx-hamlet-run: ${egressKey} run-1\r\n\r\n`,
    )
    expect(stage.sent.length).toBe(1)
  })

  test("of one that the val itself broke off, which was not blocked", async () => {
    const { stage, outside, url } = open(() => {})
    const client = await stage.connect()
    client.send(toGet(`${url}/`))
    await waitUntil(() => outside.heard() !== "")
    client.stop()
    await waitUntil(() => outside.closed === 1)
    expect(stage.sent).toMatchObject([{ status: null, blocked: null }])
  })

  test("of an address that is too long only its beginning", async () => {
    const { stage } = open(() => {}, {
      decide: () => ({ kind: "blocked", reason: "no" }),
      limits: { listedUrlCharsMax: 30 },
    })
    await stage.get(`http://a.test/${"x".repeat(100)}`)
    expect(stage.sent).toMatchObject([
      { url: `http://a.test/${"x".repeat(15)}…`, blocked: "no", bytesSent: 0, bytesReceived: 0 },
    ])
  })

  test("nothing if it cannot be found, and the request comes to an end", async () => {
    const { stage, url } = open((socket) => socket.write(say("x")), {
      guest: {
        findRun() {
          throw new Error("a bug")
        },
      },
    })
    expect((await stage.get(`${url}/`)).status).toBe(502)
    expect(stage.errors.splice(0)).toEqual([new Error("a bug")])
    expect(stage.listener.sizes.requests).toBe(0)
  })

  test("even if it fails to listen", async () => {
    const { stage, url } = open((socket) => socket.write(say("x")), {
      guest: {
        mask() {
          throw new Error("a bug")
        },
      },
    })
    expect((await stage.get(`${url}/`)).body).toBe("x")
    expect(stage.errors.splice(0)).toEqual([new Error("a bug")])
  })
})

describe("there is a limit", () => {
  test("on requests at once", async () => {
    const { stage, outside, url } = open(() => {}, { limits: { connectionsMax: 2 } })
    const clients = [await stage.connect(), await stage.connect()]
    for (const client of clients) client.send(toGet(`${url}/`))
    await waitUntil(() => outside.sockets.length === 2)
    const refused = await stage.get(`${url}/`)
    expect([refused.status, refused.body]).toEqual([
      429,
      `Cannot fetch "${url}/": the val has 2 outgoing requests open already`,
    ])
    clients[0]?.stop()
    await waitUntil(() => stage.listener.sizes.requests === 1)
    const next = await stage.connect()
    next.send(toGet(`${url}/`))
    await waitUntil(() => outside.sockets.length === 3)
  })

  test("on requests in a minute, but for the API, which counts itself", async () => {
    const { stage, url } = open((socket) => socket.write(say("x")), {
      limits: { requestsPerMinute: 2 },
      own: { isApiHost: (host) => host === "hamlet.test" },
    })
    const statuses: number[] = []
    for (const target of [url, "http://hamlet.test", url, url, "http://hamlet.test"])
      statuses.push((await stage.get(`${target}/`)).status)
    expect(statuses).toEqual([200, 200, 200, 429, 200])
    expect(stage.sent[3]?.blocked).toBe("the val sends more than 2 requests a minute")
  })

  test("on the bytes of a request, whether it says how many or not", async () => {
    const { stage, outside, url } = open(
      (socket, text) => text.includes("x".repeat(5000)) && socket.write(say("x")),
      {
        limits: { bytesMax: 10_000 },
      },
    )
    const post = (framing: string, body: string) =>
      stage.ask(
        `POST ${url}/ HTTP/1.1\r\nx-hamlet-run: ${egressKey} run-1\r\n${framing}\r\n\r\n${body}`,
      )
    expect((await post("content-length: 5000", "x".repeat(5000))).status).toBe(200)
    expect((await post("content-length: 20000", "x".repeat(20_000))).status).toBe(403)
    expect(
      (await post("transfer-encoding: chunked", `4e20\r\n${"x".repeat(20_000)}\r\n0\r\n\r\n`)).body,
    ).toEndWith(": it has more than 10000 bytes")
    expect(stage.sent.map(({ blocked }) => blocked)).toEqual([
      null,
      "it has more than 10000 bytes",
      "it has more than 10000 bytes",
    ])
    expect(outside.sockets.some(({ data }) => data.bytes > 10_000)).toBe(false)
  })

  test("on the bytes of an answer, which is broken off", async () => {
    const { stage, outside, url } = open(
      (socket, text) =>
        socket.write(
          text.includes("/whole")
            ? say("x".repeat(20_000))
            : `HTTP/1.1 200 OK\r\n\r\n${"x".repeat(5000)}`,
        ) && setImmediate(() => socket.write("x".repeat(20_000))),
      { limits: { bytesMax: 10_000 } },
    )
    const whole = await stage.get(`${url}/whole`)
    expect([whole.status, whole.body]).toEqual([
      403,
      `Cannot fetch "${url}/whole": the response has more than 10000 bytes`,
    ])
    const stream = await stage.get(`${url}/stream`)
    await stream.until(() => stream.isClosed)
    expect(stream.text.length).toBeLessThan(10_000)
    expect(stage.sent.map(({ status, blocked }) => [status, blocked])).toEqual([
      [null, "the response has more than 10000 bytes"],
      [200, "the response has more than 10000 bytes"],
    ])
    await waitUntil(() => outside.closed === 2)
  })

  test("on what the account may send and get: it is asked at the beginning, now and then, and at the end", async () => {
    const taken: [string, number][] = []
    let left = 1_000_000
    const { stage, url } = open(
      (socket, text) => socket.write(say("x".repeat(text.includes("/large") ? 200_000 : 100))),
      {
        takeBytes: (ownerId, bytes) => {
          taken.push([ownerId, bytes])
          left -= bytes
          if (left < 0) throw new RateLimited(7)
        },
      },
    )
    await stage.get(`${url}/`)
    const [{ bytesSent = 0, bytesReceived = 0 } = {}] = stage.sent
    expect(taken).toEqual([
      ["ada", bytesSent],
      ["ada", bytesReceived],
    ])
    await stage.get(`${url}/large`)
    expect(taken.reduce((sum, [, bytes]) => sum + bytes, 0)).toBe(
      stage.listener.totals.bytesSent + stage.listener.totals.bytesReceived,
    )
    expect(taken.length).toBeGreaterThan(4)
    left = 100_000
    const broken = await stage.get(`${url}/large`)
    await broken.until(() => broken.isClosed)
    const reason = "the account has used up its outgoing traffic, try again in 7 s"
    expect(stage.sent[2]).toMatchObject({ status: 200, blocked: reason })
    const refused = await stage.get(`${url}/`)
    expect([refused.status, refused.body]).toEqual([429, `Cannot fetch "${url}/": ${reason}`])
  })

  test("that fails counts as one that is used up", async () => {
    const { stage, url } = open((socket) => socket.write(say("x")), {
      takeBytes() {
        throw new Error("a bug")
      },
    })
    expect((await stage.get(`${url}/`)).status).toBe(429)
    expect(stage.errors.splice(0).length).toBeGreaterThan(0)
  })

  test.each([
    ["until there is an answer", "responseMsMax", "", "has not responded for 0.1 s", null],
    ["until all of it is over", "msMax", "", "it took longer than 0.1 s", null],
    [
      "without a byte in an answer",
      "idleMsMax",
      "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc",
      "no bytes were transferred for 0.1 s",
      200,
    ],
  ])("on the time %s", async (_, limit, said, reason, status) => {
    const { stage, outside, url } = open((socket) => socket.write(said), {
      limits: { [limit]: 100 },
    })
    const client = await stage.get(`${url}/`)
    if (status === null)
      expect([client.status, client.body]).toEqual([
        504,
        expect.stringMatching(new RegExp(`${reason}$`)),
      ])
    else await client.until(() => client.isClosed)
    expect(stage.sent).toMatchObject([{ status, blocked: expect.stringContaining(reason) }])
    await waitUntil(() => outside.closed === 1)
  })

  test("on the time without a byte of a body that does not come", async () => {
    const { stage, outside, url } = open(() => {}, { limits: { idleMsMax: 30 } })
    const client = await stage.ask(`POST ${url}/ HTTP/1.1\r\ncontent-length: 10\r\n\r\nabc`)
    expect([client.status, client.body]).toEqual([
      504,
      expect.stringContaining("no bytes were transferred"),
    ])
    await waitUntil(() => outside.closed === 1)
  })
})

describe("stop", () => {
  test("leaves nothing behind: no connection, no socket file, no timer that holds the program", async () => {
    const { stage, outside, url } = open(
      (socket, text) => text.includes("/kept") && socket.write(say("x")),
    )
    await stage.get(`${url}/kept`)
    const clients = [await stage.connect(), await stage.connect(), await stage.connect()]
    clients[0]?.send(toGet(`${url}/waits`))
    clients[1]?.send("GET http://a.t")
    await waitUntil(() => outside.heard().includes("/waits"))
    const { existsSync } = await import("node:fs")
    expect(existsSync(stage.path)).toBe(true)
    stage.listener.stop()
    stage.listener.stop()
    expect(stage.listener.sizes).toEqual({ clients: 0, upstreams: 0, requests: 0 })
    expect(existsSync(stage.path)).toBe(false)
    for (const client of clients) await client.until(() => client.isClosed)
    await waitUntil(() => outside.closed === outside.sockets.length)
  })

  test("ends what waits for somebody to be admitted", async () => {
    const { stage, url } = open(() => {}, { isLate: true })
    const client = await stage.connect()
    client.send(toGet(`${url}/`))
    await waitUntil(() => stage.listener.sizes.requests === 1)
    await stage.egress.stop()
    await client.until(() => client.isClosed)
    stage.listener.setClient(stage.guest)
    await new Promise<void>((resolve) => setImmediate(resolve))
    expect(stage.listener.sizes).toEqual({ clients: 0, upstreams: 0, requests: 0 })
  })
})
