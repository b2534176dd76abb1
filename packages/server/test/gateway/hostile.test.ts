import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { RunDetail } from "../../src/domain/runs/runs.ts"
import { type GatewayFixture, openGatewayFixture } from "./support/gateway-fixture.ts"
import type { RawVal } from "./support/plain-runner.ts"

let fixture: GatewayFixture
/** Its vals have little time for a response. */
let hasty: GatewayFixture
let count = 0
beforeAll(async () => {
  fixture = await openGatewayFixture()
  hasty = await openGatewayFixture(undefined, { HAMLET_STREAM_SECONDS_MAX: "2" })
  await fixture.addVal("calm", () => new Response("calm"))
})
afterAll(async () => {
  expect(await (await fixture.request("calm")).text()).toBe("calm")
  await fixture[Symbol.asyncDispose]()
  await hasty[Symbol.asyncDispose]()
})

interface VisitOptions {
  readonly method?: string
  readonly onText?: (text: string) => void
  /** Where the val is; by default it has the usual time. */
  readonly at?: GatewayFixture
}

/** What the client of a val sees that writes like this, and what became of the run. */
async function visitRaw(
  val: RawVal | string,
  { method = "GET", onText, at = fixture }: VisitOptions = {},
): Promise<{ text: string; run: RunDetail }> {
  const name = `raw${++count}`
  await at.addVal(name)
  at.runner.serveRaw(`ada/${name}`, typeof val === "string" ? (socket) => socket.write(val) : val)
  const text = await at.exchange(
    `${method} / HTTP/1.1\r\nHost: ada-${name}.localhost\r\nConnection: close\r\n\r\n`,
    undefined,
    onText,
  )
  const id = /x-run-id: (\S+)/i.exec(text)?.[1] ?? ""
  return { text, run: await at.runOf(id) }
}

const ok = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"

describe("a malformed response of a val is a 502:", () => {
  const nonsense: Readonly<Record<string, RawVal | string>> = {
    "no HTTP at all": (socket) => socket.end("lalala\r\n\r\n"),
    "an empty response": (socket) => socket.end(),
    "half a head": (socket) => socket.end("HTTP/1.1 200 OK\r\nx-a: b"),
    "a status below 100": "HTTP/1.1 099 No\r\ncontent-length: 0\r\n\r\n",
    "a status above 599": "HTTP/1.1 999 No\r\ncontent-length: 0\r\n\r\n",
    "another protocol":
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: foo\r\nconnection: upgrade\r\n\r\n",
    "two lengths": `${ok}content-length: 3\r\ncontent-length: 5\r\n\r\nabc`,
    "headers over the limit": `${ok}${"x-a: b".padEnd(1000, "c")}\r\n${`x-b: ${"y".repeat(1000)}\r\n`.repeat(100)}content-length: 0\r\n\r\n`,
    "cookies over the limit": `${ok}${`set-cookie: ${"y".repeat(1000)}\r\n`.repeat(100)}content-length: 0\r\n\r\n`,
    "headers without end": (socket) => {
      socket.write(ok)
      const more = () => {
        while (!socket.destroyed && socket.write(`x-a: ${"y".repeat(1000)}\r\n`));
      }
      socket.on("drain", more)
      more()
    },
    "a body shorter than its content-length": (socket) =>
      socket.end(`${ok}content-length: 10\r\n\r\nabc`),
  }
  for (const [title, val] of Object.entries(nonsense)) {
    test(title, async () => {
      const { text, run } = await visitRaw(val)
      expect(text).toStartWith("HTTP/1.1 502 ")
      expect(["failed", "crashed"]).toContain(run.status)
      expect(run.error).not.toBeNull()
    })
  }
})

describe("a val cannot", () => {
  test("end a truncated response as if it were complete", async () => {
    // The client has the content before the connection to the val breaks.
    const received = Promise.withResolvers<void>()
    const { text, run } = await visitRaw(
      (socket) => {
        socket.write(`${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`)
        void received.promise.then(() => socket.destroy())
      },
      { onText: (text) => text.includes("abc") && received.resolve() },
    )
    expect(text).toContain("3\r\nabc\r\n")
    expect(text).not.toContain("0\r\n\r\n")
    expect(run).toMatchObject({ status: "failed", error: { name: "BrokenAnswer" } })
  })

  test("send an endless body with a short content-length", async () => {
    const pour: RawVal = (socket) => {
      const chunk = `3e8\r\n${"z".repeat(1000)}\r\n`
      socket.write(`${ok}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n`)
      socket.write(chunk.repeat(200))
      const more = setInterval(() => socket.write(chunk), 10)
      socket.on("close", () => clearInterval(more))
    }
    const { text, run } = await visitRaw(pour, { at: hasty })
    // The response is passed on as the stream that it is, until its time is up.
    expect(text.length).toBeGreaterThan(100_000)
    expect(run.status).toBe("timed_out")
  })

  test("stay silent for longer than a response may take", async () => {
    const [{ text, run }, short] = await Promise.all([
      visitRaw(`${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`, { at: hasty }),
      visitRaw(`${ok}content-length: 10\r\n\r\nabc`, { at: hasty }),
    ])
    expect(text).toEndWith("3\r\nabc\r\n<closed>")
    expect(run).toMatchObject({ status: "timed_out", request: { status: 200 } })
    expect(short.text).toStartWith("HTTP/1.1 504 ")
    expect(short.run.status).toBe("timed_out")
  })

  test("inject a header with a line break", async () => {
    for (const line of [
      "x-a: b\rset-cookie: evil=1; Domain=localhost",
      "x-a: b\nset-cookie: evil=1; Domain=localhost",
      "x-a: b\0c",
    ]) {
      const { text } = await visitRaw(`${ok}${line}\r\ncontent-length: 0\r\n\r\n`)
      expect(text).not.toMatch(/domain=localhost/i)
      const [head = ""] = text.split("\r\n\r\n")
      expect(head).not.toMatch(/[^\r]\n|\r[^\n]|\0/)
    }
  })

  test("inject anything through its reason phrase", async () => {
    for (const words of ["\xff\xfe", "", "x".repeat(5000), "<script>", "a\tb"]) {
      const { text } = await visitRaw((socket) => {
        socket.write(
          Buffer.from(
            `HTTP/1.1 200 ${words}\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok`,
            "latin1",
          ),
        )
      })
      expect(text).toMatch(/^HTTP\/1\.1 (200|502) /)
    }
  })

  test("append a second response", async () => {
    const { text } = await visitRaw(
      `${ok}content-length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`,
    )
    expect(text).not.toContain("evil")
  })

  test("send a body with HEAD or 204", async () => {
    expect(
      (await visitRaw(`${ok}content-length: 4\r\n\r\nevil`, { method: "HEAD" })).text,
    ).not.toContain("evil")
    expect(
      (await visitRaw("HTTP/1.1 204 No Content\r\ncontent-length: 4\r\n\r\nevil")).text,
    ).not.toContain("evil")
  })

  test("keep a connection open with a Connection header", async () => {
    const { text } = await visitRaw(
      `${ok}connection: keep-alive, x-hop\r\nx-hop: 1\r\nkeep-alive: timeout=99\r\ncontent-length: 0\r\n\r\n`,
    )
    expect(text).not.toMatch(/x-hop|timeout=99/i)
  })
})

describe("a client cannot", () => {
  const hosts: Readonly<Record<string, string>> = {
    "put a name before the host": "ada@ada-calm.localhost",
    "put a host behind the host": "ada-calm.localhost:80@evil.localhost",
    "give two hosts in one": "evil.localhost, ada-calm.localhost",
    "give a host with a path": "ada-calm.localhost/x.localhost",
    "give a host that is not ASCII": "ada-c\xe4lm.localhost",
    "give a host with a percent sign": "ada%2dcalm.localhost",
    "give a host without end": `${"a".repeat(5000)}.localhost`,
    "give an empty label": ".localhost",
    "give a port that is none": "ada-calm.localhost:x.localhost",
  }
  for (const [title, host] of Object.entries(hosts)) {
    test(title, async () => {
      const bytes = Buffer.from(
        `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        "latin1",
      )
      expect(await fixture.exchange(bytes)).toMatch(/^HTTP\/1\.1 4\d\d /)
    })
  }

  test("reach another host with an absolute URL as the path", async () => {
    const ask = (target: string) =>
      fixture.exchange(
        `GET ${target} HTTP/1.1\r\nHost: ada-calm.localhost\r\nConnection: close\r\n\r\n`,
      )
    expect(await ask("http://evil.example/x?y")).toEndWith("calm<closed>")
    expect(fixture.runner.seen.at(-1)?.path).toBe("/x?y")
    expect(fixture.runner.seen.at(-1)?.headers.get("host")).toBe("ada-calm.localhost")
    expect(await ask("/a/../../../b")).toEndWith("calm<closed>")
    expect(fixture.runner.seen.at(-1)?.path).toBe("/b")
  })

  test.each([
    ["ada-calm.localhost", "ada-calm.localhost"],
    ["ada-calm.localhost", "localhost"],
    ["localhost", "ada-calm.localhost"],
    ["ada-calm.localhost", "ada-other.localhost"],
  ])("send two Host headers, %s and %s", async (...hosts) => {
    const lines = hosts.map((host) => `Host: ${host}\r\n`).join("")
    const text = await fixture.exchange(
      `GET /healthz HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`,
    )
    expect(text).toStartWith("HTTP/1.1 400 ")
    expect(text).toContain("it names more than one host")
    expect(text).not.toContain("x-run-id")
  })

  test("use a val as a proxy", async () => {
    const text = await fixture.exchange(
      "CONNECT evil:443 HTTP/1.1\r\nHost: ada-calm.localhost\r\nConnection: close\r\n\r\n",
    )
    expect(text).toMatch(/^HTTP\/1\.1 4\d\d /)
  })

  test("smuggle a request after another", async () => {
    const head = "POST / HTTP/1.1\r\nHost: ada-calm.localhost\r\n"
    const hidden = "GET /smuggled HTTP/1.1\r\nHost: ada-calm.localhost\r\n\r\n"
    const attempts = [
      `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
      `${head}Content-Length: 3\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
      `${head}Transfer-Encoding: xchunked\r\nContent-Length: 3\r\n\r\n${hidden}`,
      `${head}Content-Length: +3\r\n\r\nabc${hidden}`,
      `${head}Transfer-Encoding: chunked\r\n\r\n-1\r\n${hidden}`,
    ]
    for (const attempt of attempts) {
      await fixture.exchange(attempt, /HTTP\/1\.1 \d+/)
      expect(fixture.runner.seen.map(({ path }) => path)).not.toContain("/smuggled")
    }
  })
})
