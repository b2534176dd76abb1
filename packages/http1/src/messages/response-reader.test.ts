import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { http1Limits } from "../http1-limits.ts"
import type { ResponseHead } from "./response-reader.ts"
import { ResponseReader, type ResponseSink } from "./response-reader.ts"

/** What was heard of an answer, whether its body came whole or in parts. */
interface Heard {
  readonly head: ResponseHead | undefined
  readonly body: string | null
  readonly end: "clean" | "unclean" | "none" | string
}

function read(
  parts: readonly string[],
  {
    method = "GET",
    isClosed = false,
    isError = false,
    isUpgrade = false,
    acceptsHttp10 = false,
  } = {},
): Heard {
  let head: ResponseHead | undefined
  let body: string | null = null
  let end = "none"
  const sink: ResponseSink = {
    onHead(read, whole) {
      expect(head).toBeUndefined()
      head = read
      body = whole === null ? null : Buffer.from(whole ?? []).toString("latin1")
    },
    onPart(bytes) {
      expect(bytes.length).toBeGreaterThan(0)
      body += Buffer.from(bytes).toString("latin1")
    },
    onEnd(isClean) {
      expect(end).toBe("none")
      end = isClean ? "clean" : "unclean"
    },
    onBroken(reason) {
      expect(end).toBe("none")
      end = reason
    },
  }
  const reader = new ResponseReader(http1Limits, sink, { acceptsHttp10 })
  reader.begin(method, isUpgrade)
  for (const part of parts) reader.push(Buffer.from(part, "latin1"))
  if (isClosed) reader.close(isError)
  return { head, body, end }
}

const ok = "HTTP/1.1 200 OK\r\n"

describe("ResponseReader reads", () => {
  const answers: Readonly<
    Record<string, readonly [text: string, body: string | null, status?: number]>
  > = {
    "a body with a length": [`${ok}Content-Length: 5\r\n\r\nhello`, "hello"],
    "a length that is said twice": [
      `${ok}content-length: 5\r\ncontent-length: 5\r\n\r\nhello`,
      "hello",
    ],
    "no body": [`${ok}content-length: 0\r\n\r\n`, null],
    "a status without words": ["HTTP/1.1 404\r\ncontent-length: 1\r\n\r\nx", "x", 404],
    "words beyond ASCII": ["HTTP/1.1 404 \xff\xfe\r\ncontent-length: 1\r\n\r\nx", "x", 404],
    "an answer without headers that cannot have a body": [
      "HTTP/1.1 204 No Content\r\n\r\n",
      null,
      204,
    ],
    "304 with a length": ["HTTP/1.1 304 Not Modified\r\ncontent-length: 10\r\n\r\n", null, 304],
    chunks: [
      `${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n`,
      "abc0123456789",
    ],
    "chunks with extensions and a trailer": [
      `${ok}Transfer-Encoding: Chunked\r\n\r\n3;a="b"\r\nabc\r\n000\r\nx-a: b\r\n\r\n`,
      "abc",
    ],
    "the answer behind others": [
      `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 100\r\n\r\n${ok}content-length: 1\r\n\r\nx`,
      "x",
    ],
    "headers without values, and with blanks": [
      `${ok}x-a:\r\nx-b: \t b \t\r\ncontent-length: 1\r\n\r\nx`,
      "x",
    ],
  }
  for (const [title, [text, body, status = 200]] of Object.entries(answers)) {
    test(`${title}, in one piece and byte by byte`, () => {
      const whole = read([text])
      expect([whole.head?.status, whole.body, whole.end]).toEqual([status, body, "clean"])
      expect(read([...text])).toEqual(whole)
    })
  }

  test("names in lower case, values without blanks around them, all in the order they came", () => {
    const { head } = read([`${ok}X-A: 1\r\nSet-Cookie:a=b\r\nset-cookie: c \r\nx~!: \xe4\r\n\r\n`])
    expect(head?.headers).toEqual([
      ["x-a", "1"],
      ["set-cookie", "a=b"],
      ["set-cookie", "c"],
      ["x~!", "\xe4"],
    ])
  })

  test("a body that ends with the connection, unless that was broken off", () => {
    expect(read([`${ok}\r\nab`, "c"], { isClosed: true })).toMatchObject({
      body: "abc",
      end: "unclean",
    })
    expect(read([`${ok}\r\nab`, "c"], { isClosed: true, isError: true }).end).toContain(
      "closed before its end",
    )
  })

  test("no body after HEAD, whatever its head says", () => {
    for (const header of ["content-length: 100", "transfer-encoding: chunked", "x: y"])
      expect(read([`${ok}${header}\r\n\r\n`], { method: "HEAD" })).toMatchObject({
        body: null,
        end: "clean",
      })
  })

  test("all that follows an upgrade that was asked for, wherever it is cut", () => {
    const text =
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\ncontent-length: 2\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\0"
    const whole = read([text], { isUpgrade: true, isClosed: true })
    expect([whole.head?.status, whole.body, whole.end]).toEqual([
      101,
      "HTTP/1.1 200 OK\r\n\r\n\0",
      "unclean",
    ])
    expect(read([...text], { isUpgrade: true, isClosed: true })).toEqual(whole)
  })

  test("an ordinary answer to an upgrade that was refused", () => {
    const text = `HTTP/1.1 100 Continue\r\n\r\n${ok}content-length: 1\r\n\r\nx`
    expect(read([text], { isUpgrade: true })).toMatchObject({ body: "x", end: "clean" })
  })

  test("HTTP/1.0 only where it is expected, once on a connection, and never in chunks", () => {
    const old = (lines: string) => [`HTTP/1.0 200 OK\r\n${lines}\r\n\r\nx`]
    expect(read(old("content-length: 1"), { acceptsHttp10: true })).toMatchObject({
      body: "x",
      end: "unclean",
    })
    expect(
      read(old("connection: keep-alive"), { acceptsHttp10: true, isClosed: true }),
    ).toMatchObject({
      body: "x",
      end: "unclean",
    })
    expect(read(old("transfer-encoding: chunked"), { acceptsHttp10: true }).end).toContain(
      "HTTP/1.0 does not support",
    )
    expect(read(["HTTP/1.2 200 OK\r\n"], { acceptsHttp10: true }).end).toContain(
      "not an HTTP/1.1 response",
    )
    expect(read(old("content-length: 1")).end).toContain("not an HTTP/1.1 response")
  })

  test("the same head again, with another body, cut, and one that only begins like it", () => {
    const heard: string[] = []
    const reader = new ResponseReader(http1Limits, {
      onHead: ({ status, headers }, body) =>
        void heard.push(
          `${status} ${headers.length} ${body ? Buffer.from(body).toString() : body}`,
        ),
      onPart: (bytes) => void heard.push(Buffer.from(bytes).toString()),
      onEnd: (isClean) => void heard.push(isClean ? "clean" : "unclean"),
      onBroken: (reason) => void heard.push(reason),
    })
    const head = `${ok}content-length: 3\r\n\r\n`
    const read = (method: string, ...parts: readonly string[]) => {
      heard.length = 0
      reader.begin(method)
      for (const part of parts) reader.push(Buffer.from(part))
      return heard.join(", ")
    }
    expect(read("GET", `${head}abc`)).toBe("200 1 abc, clean")
    expect(read("GET", `${head}def`)).toBe("200 1 def, clean")
    expect(read("GET", head, "gh", "i")).toBe("200 1 undefined, gh, i, clean")
    expect(read("GET", `${head}jklm`)).toBe("200 1 jkl, unclean")
    expect(read("HEAD", head)).toBe("200 1 null, clean")
    expect(read("GET", head.slice(0, 20), `${head.slice(20)}nop`)).toBe("200 1 nop, clean")
    expect(read("GET", `${head.slice(0, -2)}x: y\r\n\r\nqrs`)).toBe("200 2 qrs, clean")
    expect(read("GET", `${head}tuv`)).toBe("200 1 tuv, clean")
  })

  for (const [title, text] of [
    ["more than the answer has come", `${ok}content-length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n`],
    ["more than the chunks has come", `${ok}transfer-encoding: chunked\r\n\r\n0\r\n\r\nmore`],
    ["there is a body where none can be", "HTTP/1.1 204 No\r\ncontent-length: 4\r\n\r\nevil"],
    ["the process wants to close it", `${ok}connection: Close\r\ncontent-length: 1\r\n\r\nx`],
    [
      "there are both a length and chunks",
      `${ok}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
  ] as const) {
    test(`no further answer on a connection when ${title}`, () =>
      expect(read([text]).end).toBe("unclean"))
  }
})

describe("ResponseReader refuses", () => {
  const head = (lines: string) => `HTTP/1.1 200 OK\r\n${lines}\r\n\r\n`
  const chunked = (body: string) => `${ok}transfer-encoding: chunked\r\n\r\n${body}`
  const hostile: Readonly<Record<string, string>> = {
    rubbish: "rubbish",
    "another version": "HTTP/1.0 200 OK\r\n\r\n",
    "a version in lower case": "http/1.1 200 OK\r\n\r\n",
    "a status with two digits": "HTTP/1.1 20 OK\r\n\r\n",
    "a status with four digits": "HTTP/1.1 2000 OK\r\n\r\n",
    "a status that is no number": "HTTP/1.1 2x0 OK\r\n\r\n",
    "status 000": "HTTP/1.1 000 No\r\n\r\n",
    "status 101": "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n",
    "a bare LF in the first line": "HTTP/1.1 200 OK\nx: y\r\n\r\n",
    "a NUL in the first line": "HTTP/1.1 200 O\0K\r\n\r\n",
    "a header without a colon": head("x-a"),
    "a header without a name": head(": y"),
    "a blank before the colon": head("x-a : y"),
    "a folded header": head("x-a: y\r\n z"),
    "a name beyond ASCII": head("x-\xe4: y"),
    "a bare CR in a value": head("x-a: b\rset-cookie: c"),
    "a bare LF in a value": head("x-a: b\nset-cookie: c"),
    "a NUL in a value": head("x-a: b\0c"),
    "a DEL in a value": head("x-a: b\x7fc"),
    "a CR at the end of a value": head("x-a: b\r"),
    "two lengths": head("content-length: 1\r\ncontent-length: 2"),
    "a list of lengths": head("content-length: 1, 1"),
    "a length below zero": head("content-length: -1"),
    "a length with a sign": head("content-length: +1"),
    "a length in other digits": head("content-length: 0x1"),
    "an empty length": head("content-length: "),
    "a length that no number can hold": head(`content-length: ${"9".repeat(16)}`),
    "a coding that is not known": head("transfer-encoding: gzip, chunked"),
    "two codings": head("transfer-encoding: chunked\r\ntransfer-encoding: chunked"),
    "a head over the limit": `${ok}x-a: ${"y".repeat(http1Limits.headBytesMax)}\r\n\r\n`,
    "a head without end": `${ok}x-a: ${"y".repeat(http1Limits.headBytesMax)}`,
    "a status line without end": `HTTP/1.1 200 ${"y".repeat(http1Limits.headBytesMax)}`,
    "too many heads before it": "HTTP/1.1 100 Continue\r\n\r\n".repeat(http1Limits.interimMax + 1),
    "a chunk without a length": chunked("\r\nabc"),
    "a chunk with a length that is none": chunked("zz\r\n"),
    "a chunk with a length below zero": chunked("-1\r\n"),
    "a chunk with a length that no number can hold": chunked("10000000000000\r\n"),
    "a chunk longer than it says": chunked("3\r\nabcd\r\n"),
    "a chunk that ends with LF alone": chunked("3\r\nabc\n0\r\n\r\n"),
    "a length of a chunk that ends with LF alone": chunked("3\nabc\r\n"),
    "a CR in the length of a chunk": chunked("3\r3\r\nabc"),
    "an extension without end": chunked(`3;${"x".repeat(http1Limits.chunkLineBytesMax)}`),
    "a NUL in an extension": chunked("3;\0\r\nabc\r\n"),
    "a length of a chunk with too many zeros": chunked("0".repeat(100)),
    "a trailer without end": chunked(`0\r\n${"x: y\r\n".repeat(http1Limits.trailerBytesMax)}`),
    "a trailer with a NUL": chunked("0\r\nx: \0\r\n\r\n"),
    "a trailer that ends with LF alone": chunked("0\r\nx: y\n\r\n"),
  }
  for (const [title, text] of Object.entries(hostile)) {
    test(`${title}, in one piece and in many`, () => {
      const { end } = read([text])
      expect(["clean", "unclean", "none"]).not.toContain(end)
      expect(read([...text]).end).toBe(end)
    })
  }

  for (const [title, text] of [
    ["nothing", ""],
    ["half a head", "HTTP/1.1 200 OK\r\nx-a: b"],
    ["less than it promised", `${ok}content-length: 10\r\n\r\nabc`],
    ["half a chunk", chunked("5\r\nabc")],
    ["chunks without the last", chunked("3\r\nabc\r\n")],
    ["chunks without the end of the last", chunked("0\r\n")],
  ] as const) {
    test(`a connection that is closed after ${title}`, () => {
      expect(read([text]).end).toBe("none")
      expect(read([text], { isClosed: true }).end).toBe("the connection was closed before its end")
    })
  }
})

describe("ResponseReader, however the bytes are split into reads,", () => {
  const piece = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom(
        ok,
        "HTTP/1.1 ",
        "HTTP/1.1 204 No\r\n",
        "HTTP/1.1 100\r\n\r\n",
        "\r\n",
        "\r",
        "\n",
        "0\r\n\r\n",
      ),
    },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        "transfer-encoding: chunked\r\n",
        "content-length: 5\r\n",
        "connection: close\r\n",
        "x-a: b\r\n",
      ),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        "5\r\nhello\r\n",
        "3;x\r\nabc\r\n",
        "hello",
        "\r\nhello",
        "\r\n\r\n",
      ),
    },
    {
      weight: 1,
      arbitrary: fc.string({
        unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
        maxLength: 8,
      }),
    },
  )
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => `${ok}${pieces.join("")}`)

  test("hears the same", () => {
    const cuts = fc.array(fc.nat(200), { maxLength: 20 })
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          fc.array(piece).map((pieces) => pieces.join("")),
        ),
        cuts,
        fc.boolean(),
        (whole, at, isHead) => {
          const places = [
            ...new Set([0, ...at.filter((cut) => cut < whole.length), whole.length]),
          ].sort((left, right) => left - right)
          const parts = places.slice(1).map((to, index) => whole.slice(places[index], to))
          const options = { method: isHead ? "HEAD" : "GET", isClosed: true }
          const [once, cut] = [read([whole], options), read(parts, options)]
          expect({ ...cut, end: toKind(cut.end) }).toEqual({ ...once, end: toKind(once.end) })
        },
      ),
      { numRuns: 3000 },
    )
  })

  test("delivers the content before a malformed chunk", () => {
    const whole = `${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\nx`
    for (const parts of [[whole], [whole.slice(0, -3), whole.slice(-3)]])
      expect(read(parts)).toMatchObject({ body: "hello", end: "a chunk has an invalid size line" })
  })

  test("finds in chunks what was put there", () => {
    const chunk = fc.tuple(
      fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 40 }),
      fc.constantFrom("", ";a", " ;b=c"),
    )
    fc.assert(
      fc.property(fc.array(chunk), fc.array(fc.nat(300), { maxLength: 10 }), (chunks, at) => {
        const body = chunks
          .map(
            ([content, extension]) =>
              `${content.length.toString(16)}${extension}\r\n${content}\r\n`,
          )
          .join("")
        const whole = `${ok}transfer-encoding: chunked\r\n\r\n${body}0\r\n\r\n`
        const places = [
          ...new Set([0, ...at.filter((cut) => cut < whole.length), whole.length]),
        ].sort((left, right) => left - right)
        const { body: found, end } = read(
          places.slice(1).map((to, index) => whole.slice(places[index], to)),
        )
        expect([found, end]).toEqual([chunks.map(([content]) => content).join(""), "clean"])
      }),
    )
  })

  /** What comes behind the end in another read is not the reader's to see. */
  function toKind(end: string): string {
    return end === "unclean" ? "clean" : end
  }
})
