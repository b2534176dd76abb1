import { afterEach, describe, expect, test } from "bun:test"
import { openCLibrary, RateLimited } from "@hamlet/kit"
import { createEgressPolicy, type OwnServer } from "@hamlet/sandbox"
import type { WebhookRequest } from "../../domain/webhooks/deliveries.ts"
import { createWebhookClient, type WebhookClientLimits } from "./webhook-client.ts"

type Serve = (socket: Bun.Socket, request: string) => void

/** A receiver that responds to the head of a request with whatever bytes a test wants. */
function listen(serve: Serve, hostname = "127.0.0.1", port = 0) {
  const requests: string[] = []
  const server = Bun.listen({
    hostname,
    port,
    socket: {
      data(socket, bytes) {
        requests.push(bytes.toString())
        serve(socket, bytes.toString())
      },
    },
  })
  return { port: server.port, requests, stop: () => server.stop(true) }
}

/** A listener whose queue is full, so that no further connection is accepted or refused. */
async function listenWithoutRoom(hostname: string, port: number): Promise<AsyncDisposable> {
  const c = openCLibrary({
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    bind: { args: ["i32", "ptr", "u32"], returns: "i32" },
    listen: { args: ["i32", "i32"], returns: "i32" },
    close: { args: ["i32"], returns: "i32" },
  })
  if (!c) throw new Error("there is no C library")
  const [inet, stream] = [2, 1]
  const fd = c.socket(inet, stream, 0)
  const address = Buffer.alloc(16)
  address.writeUInt16LE(inet, 0)
  address.writeUInt16BE(port, 2)
  address.set(hostname.split(".").map(Number), 4)
  expect(c.bind(fd, address, address.length)).toBe(0)
  expect(c.listen(fd, 0)).toBe(0)
  const waiting = await Bun.connect({ hostname, port, socket: { data() {} } })
  return {
    async [Symbol.asyncDispose]() {
      waiting.terminate()
      c.close(fd)
    },
  }
}

const own: OwnServer = {
  isApiHost: (host) => host === "hamlet.test",
  isProgramHost: (host) => host.endsWith(".vals.test"),
  fetchApi: () => Promise.reject(new Error("The API must not be called")),
  address: () => ({ hostname: "127.0.0.1", port: ownPort }),
}
let ownPort = 0

interface ClientOptions {
  readonly allow?: readonly string[]
  resolve?(name: string): Promise<readonly string[]>
  takeBytes?(): void
  readonly limits?: Partial<WebhookClientLimits>
}

function createClient({ allow = [], resolve, takeBytes, limits }: ClientOptions) {
  const hosts = createEgressPolicy({
    allow,
    deny: [],
    ports: [{ first: 1, last: 65_535 }],
    resolve: resolve ?? (() => Promise.reject(new Error("No name may be looked up"))),
    readOwnAddresses: () => new Set(),
  })
  return createWebhookClient({
    policy: {
      own,
      hosts,
      ca: undefined,
      addressesMax: 3,
      privateDomains: [],
      resolveRecords: () => Promise.reject(new Error("No record may be looked up")),
    },
    takeBytes: takeBytes ?? (() => {}),
    limits: { responseMsMax: 30_000, bodyMsMax: 50, ...limits },
  })
}

const toRequest = (url: string, fields: Partial<WebhookRequest> = {}): WebhookRequest => ({
  url,
  ownerId: "ada",
  headers: [["webhook-id", "msg"]],
  body: '{"a":1}',
  depth: 1,
  signal: new AbortController().signal,
  ...fields,
})

describe("createWebhookClient", () => {
  let receiver: ReturnType<typeof listen> | undefined

  afterEach(() => receiver?.stop())

  const open = (serve: Serve) => {
    receiver = listen(serve)
    const { port, requests } = receiver
    return { requests, url: `http://127.0.0.1:${port}/hook?a=b`, allow: [`127.0.0.1:${port}`] }
  }

  test("sends the body and the headers, and returns the response", async () => {
    const { url, allow, requests } = open((socket) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-a: b\r\n\r\nok"),
    )
    const outcome = await createClient({ allow }).post(toRequest(url))
    expect(outcome).toMatchObject({
      error: null,
      response: { status: 200, body: "ok", isTruncated: false },
    })
    expect(outcome.response?.headers).toContainEqual(["x-a", "b"])
    const text = requests.join("")
    expect(text).toStartWith("POST /hook?a=b HTTP/1.1\r\n")
    expect(text).toContain("webhook-id: msg\r\n")
    expect(text).toEndWith('\r\n\r\n{"a":1}')
    expect(text).not.toContain("x-hamlet-depth")
  })

  const responses: readonly (readonly [string, string, string | null])[] = [
    ["500", "HTTP/1.1 500 x\r\ncontent-length: 0\r\n\r\n", "responded with 500"],
    [
      "a redirect",
      "HTTP/1.1 307 x\r\nlocation: http://127.0.0.1/\r\n\r\n",
      "redirects are not followed",
    ],
    ["no HTTP", "hello\r\n\r\n", "sent an invalid response"],
    [
      "a head that is too large",
      `HTTP/1.1 200 OK\r\nx: ${"y".repeat(70_000)}\r\n\r\n`,
      "sent an invalid response",
    ],
    ["an endless body", `HTTP/1.1 200 OK\r\n\r\n${"z".repeat(100_000)}`, null],
    ["a body that does not come", "HTTP/1.1 201 OK\r\ncontent-length: 10\r\n\r\nabc", null],
    ["a broken chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n", null],
    ["nothing", "", "did not respond in time"],
    ["half a head", "HTTP/1.1 200 OK\r\ncontent-le", "did not respond in time"],
    [
      "endless interim responses",
      "HTTP/1.1 100 Continue\r\n\r\n".repeat(50),
      "sent an invalid response",
    ],
  ]

  test.each(responses)("survives a receiver that responds with %s", async (_, bytes, error) => {
    const { url, allow } = open((socket) => void socket.write(bytes))
    const limits = error?.endsWith("in time") ? { responseMsMax: 300 } : {}
    const outcome = await createClient({ allow, limits }).post(toRequest(url))
    if (error === null) expect(outcome.error).toBeNull()
    else expect(outcome.error).toContain(error)
    expect(Buffer.byteLength(outcome.response?.body ?? "")).toBeLessThanOrEqual(4_096)
  })

  test("says why there is no connection", async () => {
    const gone = listen(() => {})
    gone.stop()
    const client = createClient({ allow: [`127.0.0.1:${gone.port}`] })
    const outcome = await client.post(toRequest(`http://127.0.0.1:${gone.port}/`))
    expect(outcome).toMatchObject({ response: null })
    expect(outcome.error).toContain("refuses connections")
  })

  test("closes the connection when the receiver closes early, and when it is aborted", async () => {
    const closing = open((socket) => void socket.end())
    const outcome = await createClient({ allow: closing.allow }).post(toRequest(closing.url))
    expect(outcome.error).toContain("has closed the connection")
    receiver?.stop()
    const hanging = open(() => abort.abort())
    const abort = new AbortController()
    const client = createClient({ allow: hanging.allow, limits: { responseMsMax: 60_000 } })
    await expect(client.post(toRequest(hanging.url, { signal: abort.signal }))).rejects.toThrow()
  })

  const forbidden = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://[::1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://0.0.0.0/",
    "http://localhost/",
    "http://a.localhost/",
    "http://LOCALHOST./",
    "http://169.254.169.254/",
    "http://168.63.129.16/",
    "http://100.64.0.1/",
    "http://10.0.0.1/",
    "http://[fe80::1]/",
    "http://[fd00::1]/",
    "http://hamlet.test/v1/me",
    "http://HAMLET.test/v1/me",
    "http://ⓗamlet.test/v1/me",
  ]

  test.each(forbidden)("refuses %s when it is added and when it is sent", async (url) => {
    const client = createClient({ resolve: async () => ["127.0.0.1"] })
    expect(await client.findFault(url, "ada")).toBeString()
    const outcome = await client.post(toRequest(url))
    expect(outcome.response).toBeNull()
    expect(outcome.error).toStartWith("Cannot deliver the event: ")
  })

  test("connects to the address that was judged, and judges again each time", async () => {
    const good = listen((socket) => void socket.write("HTTP/1.1 204 x\r\n\r\n"), "127.0.83.2")
    const bad = listen(() => {}, "127.0.83.3", good.port)
    receiver = { ...good, stop: () => [good.stop(), bad.stop()] }
    const answers = [["127.0.83.2"], ["127.0.83.3"], ["127.0.83.2", "127.0.83.3"]]
    let lookups = 0
    const client = createClient({
      allow: ["127.0.83.2/32"],
      resolve: async () => answers[lookups++] ?? [],
    })
    const post = () => client.post(toRequest(`http://changes.test:${good.port}/`))
    expect((await post()).error).toBeNull()
    expect((await post()).error).toContain("changes.test")
    expect((await post()).error).toContain("changes.test")
    expect((await post()).error).toContain("cannot be found")
    expect(lookups).toBe(4)
    expect(bad.requests).toEqual([])
  })

  test("tries the next address when one does not respond", async () => {
    const tried = Promise.withResolvers<void>()
    const socket = { open: () => tried.resolve(), data() {} }
    const next = Bun.listen({ hostname: "127.0.83.2", port: 0, socket })
    await using _full = await listenWithoutRoom("127.0.83.3", next.port)
    const client = createClient({
      allow: ["127.0.83.0/24"],
      resolve: async () => ["127.0.83.3", "127.0.83.2"],
      limits: { connectMsMax: 20 },
    })
    const abort = new AbortController()
    const request = toRequest(`http://two.test:${next.port}/`, { signal: abort.signal })
    const posted = client.post(request).catch(() => {})
    await tried.promise
    abort.abort()
    await posted
    next.stop(true)
  })

  test("sends nothing once the attempt has ended", async () => {
    const { requests, url } = open((socket) => void socket.write("HTTP/1.1 204 x\r\n\r\n"))
    const lookups = [Promise.withResolvers<string[]>(), Promise.withResolvers<string[]>()]
    let count = 0
    const client = createClient({
      allow: ["127.0.0.1/32"],
      resolve: () => lookups[count++]?.promise ?? Promise.reject(new Error("looked up too often")),
    })
    const { port } = new URL(url)
    const abort = new AbortController()
    const named = toRequest(`http://slow.test:${port}/first`, { signal: abort.signal })
    const first = client.post(named).catch(String)
    abort.abort()
    expect(await first).toContain("AbortError")
    // What a late lookup finds leads to a request before that of the next attempt.
    for (const { resolve } of lookups) resolve(["127.0.0.1"])
    const second = await client.post(toRequest(`http://slow.test:${port}/second`))
    expect(second.error).toBeNull()
    expect(requests.map((text) => text.split(" ")[1])).toEqual(["/second"])
  })

  test("accepts a name that cannot be found yet", async () => {
    const client = createClient({ resolve: async () => [] })
    expect(await client.findFault("https://soon.test/", "ada")).toBeUndefined()
  })

  test("reaches a val of this server with the depth of the event, up to the limit", async () => {
    const { requests } = open((socket) => void socket.write("HTTP/1.1 204 x\r\n\r\n"))
    ownPort = receiver?.port ?? 0
    const client = createClient({})
    const url = "http://ada-hello.vals.test/"
    expect((await client.post(toRequest(url, { depth: 15 }))).error).toBeNull()
    expect(requests.join("")).toContain("x-hamlet-depth: 15\r\n")
    const refused = await client.post(toRequest(url, { depth: 16 }))
    expect(refused.error).toContain("called one another 15 times")
  })

  test("sends nothing when the account has used up its traffic", async () => {
    const { url, allow, requests } = open(() => {})
    const takeBytes = () => {
      throw new RateLimited(7, "Cannot send or receive any more;")
    }
    const outcome = await createClient({ allow, takeBytes }).post(toRequest(url))
    expect(outcome.error).toContain("Cannot send or receive any more")
    expect(requests).toEqual([])
  })

  test("returns how long the receiver asks to wait", async () => {
    const { url, allow } = open(
      (socket) =>
        void socket.write("HTTP/1.1 429 x\r\nretry-after: 120\r\ncontent-length: 0\r\n\r\n"),
    )
    expect(await createClient({ allow }).post(toRequest(url))).toMatchObject({
      retryAfterMs: 120_000,
    })
  })
})
