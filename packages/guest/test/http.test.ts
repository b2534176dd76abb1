import { afterEach, describe, expect, test } from "bun:test"
import type { Refused } from "../src/protocol.ts"
import { startVal, stopVals } from "./support/vals.ts"

afterEach(stopVals)

/** A val that gives what the JavaScript in the query `js` evaluates to. */
const evaluating = `export default (request: Request) => (0, eval)(decodeURIComponent(new URL(request.url).search.slice(4)))`
const js = (code: string) => `/?js=${encodeURIComponent(code)}`

describe("toResponse converts", () => {
  const cases: [title: string, code: string, status: number, type: string | null, body: string][] =
    [
      ["a string, text", `"hello"`, 200, "text/plain; charset=utf-8", "hello"],
      [
        "a string with markup, a page",
        `"\\n <h1>hi</h1>"`,
        200,
        "text/html; charset=utf-8",
        "\n <h1>hi</h1>",
      ],
      [
        "an object, JSON",
        `({ a: [1, null] })`,
        200,
        "application/json; charset=utf-8",
        `{"a":[1,null]}`,
      ],
      ["a number, JSON", `42`, 200, "application/json; charset=utf-8", "42"],
      ["false, JSON", `false`, 200, "application/json; charset=utf-8", "false"],
      [
        "what JSON cannot hold, JSON all the same",
        `(() => { const a = { n: 1n }; a.a = a; return a })()`,
        200,
        "application/json; charset=utf-8",
        `{"n":"1","a":"[Circular]"}`,
      ],
      ["a Map, JSON", `new Map([["a", 1]])`, 200, "application/json; charset=utf-8", `{"a":1}`],
      [
        "a function, JSON that says nothing",
        `() => 1`,
        200,
        "application/json; charset=utf-8",
        "null",
      ],
      ["nothing, no content", `undefined`, 204, null, ""],
      ["null, no content", `null`, 204, null, ""],
      [
        "bytes, their bytes",
        `new TextEncoder().encode("bytes")`,
        200,
        "application/octet-stream",
        "bytes",
      ],
      [
        "a buffer, its bytes",
        `new TextEncoder().encode("buffer").buffer`,
        200,
        "application/octet-stream",
        "buffer",
      ],
      [
        "a Blob, its bytes and type",
        `new Blob(["a,b"], { type: "text/csv" })`,
        200,
        "text/csv",
        "a,b",
      ],
      ["a stream, its bytes", `new Blob(["streamed"]).stream()`, 200, null, "streamed"],
      [
        "a form, the form",
        `new URLSearchParams({ a: "1" })`,
        200,
        "application/x-www-form-urlencoded;charset=UTF-8",
        "a=1",
      ],
      [
        "a promise, what it is kept with",
        `Promise.resolve({ kept: true })`,
        200,
        "application/json; charset=utf-8",
        `{"kept":true}`,
      ],
      [
        "a Response, itself",
        `new Response("teapot", { status: 418, headers: { "content-type": "text/tea" } })`,
        418,
        "text/tea",
        "teapot",
      ],
      [
        "a thenable, what it is kept with",
        `({ then: (resolve) => resolve("thenable") })`,
        200,
        "text/plain; charset=utf-8",
        "thenable",
      ],
    ]
  test("every kind of value", async () => {
    const guest = await startVal(evaluating)
    for (const [title, code, status, type, body] of cases) {
      const response = await guest.request(js(code))
      expect([
        title,
        response.status,
        response.headers.get("content-type"),
        await response.text(),
      ]).toEqual([title, status, type, body])
    }
    expect(guest.messages.some(({ kind }) => kind === "uncaught")).toBe(false)
  })

  test("an exported value to the same response for every run", async () => {
    const guest = await startVal(
      `export default new Response("<p>static", { headers: { "content-type": "text/html" } })`,
    )
    for (let times = 0; times < 3; times += 1)
      expect(await (await guest.request("/")).text()).toBe("<p>static")
    expect(await guest.call()).toMatchObject({
      value: { status: 200, headers: { "content-type": "text/html" }, body: "<p>static" },
    })
  })

  test("a Response that cannot be sent to a failure", async () => {
    const guest = await startVal(`const kept = {
        stream: new Response(new Blob(["x"]).stream()), text: new Response("x"), json: Response.json("x"), status: new Response("x", { status: 201 }),
      }
      export default async (request: Request) => {
        const name = new URL(request.url).pathname.slice(1)
        if (name === "error") return Response.error()
        if (name !== "read") return kept[name]
        const response = new Response("x"); await response.text(); return response
      }`)
    const names = ["stream", "text", "json", "status"]
    for (const name of names)
      expect((await (await guest.request(`/${name}`)).text()).replaceAll('"', "")).toBe("x")
    for (const name of [...names, "error", "read"]) {
      const second = await guest.request(`/${name}`)
      expect([name, second.headers.get("x-hamlet-failure")]).toEqual([name, "1"])
      expect((await second.json()) as object).toMatchObject({ error: { name: "TypeError" } })
    }
  })
})

describe("the request of a val", () => {
  test("has the public URL, also in copies", async () => {
    const code = `export default (request: Request) => Response.json([request.url, request.clone().url, new Request(request).url,
      new Request(request, { headers: { a: "b" } }).url, request.headers.get("host")])`
    const guest = await startVal(code, { scheme: "https" })
    const url = "https://ada-hello.localhost:8080/a/b%20c/?d=/h1/&e#"
    expect(await (await guest.request("/a/b%20c/?d=/h1/&e#f")).json()).toEqual([
      ...Array(4).fill(url.slice(0, -1)),
      "ada-hello.localhost:8080",
    ])
    expect(await (await guest.request("/")).json()).toContain("https://ada-hello.localhost:8080/")
  })

  test("has any method, headers and body", async () => {
    const code = `export default async (request: Request) => Response.json([request.method, request.headers.get("x-a"), await request.text()])`
    const guest = await startVal(code)
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"]) {
      expect(
        await (await guest.request("/", { method, body: "body", headers: { "x-a": "1" } })).json(),
      ).toEqual([method, "1", "body"])
    }
    const head = await guest.request("/", { method: "HEAD" })
    expect([head.status, await head.text()]).toEqual([200, ""])
  })

  test("is aborted when the host disconnects, and the run can log it", async () => {
    const code = `export default (request: Request) => new Promise(() => {
      request.signal.addEventListener("abort", () => console.log("aborted", request.signal.aborted))
      console.log("waiting")
    })`
    const guest = await startVal(code)
    const aborter = new AbortController()
    const answer = guest.request("/", { signal: aborter.signal }, "gone")
    const other = new AbortController()
    const otherAnswer = guest.request("/", { signal: other.signal }, "stays")
    await guest.until(() => guest.texts().length === 2)
    aborter.abort()
    await expect(answer).rejects.toThrow()
    await guest.until(() => guest.texts("gone").includes("aborted true"))
    expect(guest.texts("stays")).toEqual(["waiting"])
    other.abort()
    await expect(otherAnswer).rejects.toThrow()
  })

  test("is not aborted by its response", async () => {
    const code = `export default (request: Request) => {
      request.signal.addEventListener("abort", () => console.log("aborted"))
      setTimeout(() => console.log(request.signal.aborted), 20)
      return new Response("x")
    }`
    const guest = await startVal(code)
    await (await guest.request("/")).text()
    await guest.until(() => guest.texts().length > 0)
    expect(guest.texts()).toEqual(["false"])
  })
})

describe("a body that is a stream", () => {
  test("arrives in the val as it is sent", async () => {
    const guest = await startVal(`export default async (request: Request) => {
      for await (const chunk of request.body!) console.log(new TextDecoder().decode(chunk))
      return new Response("thanks")
    }`)
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const response = guest.request("/", { method: "POST", body: readable })
    for (const text of ["one", "two", "three"]) {
      await writer.write(new TextEncoder().encode(text))
      await guest.until(() => guest.texts("run-1").includes(text))
    }
    await writer.close()
    expect(await (await response).text()).toBe("thanks")
  })

  test("is sent while the val creates it", async () => {
    const guest = await startVal(`let push: (text: string) => void
      export default (request: Request) => {
        if (request.method === "POST") return request.text().then((text) => push(text))
        return new Response(new ReadableStream({ start(controller) { push = (text) => text ? controller.enqueue(new TextEncoder().encode(text)) : controller.close() } }))
      }`)
    const response = await guest.request("/")
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    for (const body of ["one", "two", "three"]) {
      await guest.request("/", { method: "POST", body })
      expect(new TextDecoder().decode((await reader.read()).value)).toBe(body)
    }
    await guest.request("/", { method: "POST", body: "" })
    expect((await reader.read()).done).toBe(true)
  })

  test("keeps status, several cookies and other headers", async () => {
    const guest = await startVal(`export default () => {
      const headers = new Headers({ "x-a": "1" }); headers.append("set-cookie", "a=1"); headers.append("set-cookie", "b=2")
      return new Response(new Blob(["x"]).stream(), { status: 201, headers })
    }`)
    const response = await guest.request("/")
    expect([response.status, response.headers.get("x-a"), response.headers.getSetCookie()]).toEqual(
      [201, "1", ["a=1", "b=2"]],
    )
  })

  test("logs for its run, also when others stream at the same time", async () => {
    const guest = await startVal(`export default (request: Request) => {
      let n = 0
      return new Response(new ReadableStream({ async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 2))
        console.log("chunk", n)
        if (n++ === 3) controller.close()
        else controller.enqueue(new TextEncoder().encode("x"))
      } }, { highWaterMark: 0 }))
    }`)
    const [a, b] = await Promise.all([guest.request("/", {}, "a"), guest.request("/", {}, "b")])
    expect(await Promise.all([a.text(), b.text()])).toEqual(["xxx", "xxx"])
    await guest.settle()
    const lines = ["chunk 0", "chunk 1", "chunk 2", "chunk 3"]
    expect([guest.texts("a"), guest.texts("b")]).toEqual([lines, lines])
  })

  test("that throws breaks the response and fails its run", async () => {
    const guest = await startVal(`export default () => {
      let n = 0
      return new Response(new ReadableStream({ pull(controller) {
        if (n++ === 1) throw new Error("out of chunks")
        controller.enqueue(new TextEncoder().encode("x"))
      } }))
    }`)
    const response = await guest.request("/", {}, "broken").catch(() => undefined)
    await expect(
      Promise.resolve(response?.text() ?? Promise.reject(new Error("cut off"))),
    ).rejects.toThrow()
    expect((await guest.uncaught("broken")).error).toMatchObject({ message: "out of chunks" })
  })

  test("with chunks that are not bytes fails its run", async () => {
    const guest = await startVal(`export default () => new Response(ReadableStream.from(["text"]))`)
    await guest
      .request("/", {}, "broken")
      .then((response) => response.text())
      .catch(() => undefined)
    const message = "Cannot send a chunk of a body: it is a string, not a Uint8Array"
    expect((await guest.uncaught("broken")).error).toMatchObject({ name: "TypeError", message })
  })

  test("is cancelled when the host disconnects", async () => {
    const guest = await startVal(`export default () => new Response(new ReadableStream({
      pull(controller) { controller.enqueue(new Uint8Array(65536)) },
      cancel() { console.log("cancelled") },
    }))`)
    const aborter = new AbortController()
    const response = await guest.request("/", { signal: aborter.signal }, "cancelled")
    await response.body?.getReader().read()
    aborter.abort()
    await guest.until(() => guest.texts("cancelled").includes("cancelled"))
    expect(guest.messages.some(({ kind }) => kind === "uncaught")).toBe(false)
  })
})

describe("a WebSocket", () => {
  const echo = `export default (request: Request) => {
    const { socket, response } = Deno.upgradeWebSocket(request, { protocol: request.headers.get("sec-websocket-protocol") ?? undefined })
    socket.onopen = () => { console.log("open"); socket.send(request.url) }
    socket.onmessage = ({ data }) => {
      console.log("got", data)
      if (data === "throw") throw new Error("thrown at a message")
      socket.send("echo " + data)
    }
    socket.onclose = () => console.log("closed")
    return response
  }`

  test("opens, and its logs belong to its run", async () => {
    const guest = await startVal(echo)
    const received: unknown[] = []
    const socket = new WebSocket(`ws+unix://${guest.inSocket}:/hsocket/chat?x=1`, {
      headers: { host: "ada-hello.localhost:8080" },
      protocols: ["chat"],
    } as unknown as string[])
    socket.onmessage = ({ data }) => {
      received.push(data)
      if (received.length === 1) socket.send("one")
      if (received.length === 2) socket.send("throw")
    }
    const error = (await guest.uncaught("socket")).error
    expect(error).toMatchObject({
      message: "thrown at a message",
      stack: "Error: thrown at a message\n    at WebSocket.socket.onmessage (ada/hello.tsx:6:35)",
    })
    expect(received).toEqual(["http://ada-hello.localhost:8080/chat?x=1", "echo one"])
    expect(socket.protocol).toBe("chat")
    socket.close()
    await guest.until(() => guest.texts("socket").includes("closed"))
    expect(guest.texts()).toEqual(["open", "got one", "got throw", "closed"])
  })

  const refuse = async (code: string) => {
    const guest = await startVal(code)
    const socket = new WebSocket(`ws+unix://${guest.inSocket}:/hsocket/`, {
      headers: { host: "ada-hello.localhost" },
    } as unknown as string[])
    const closed = new Promise((resolve) => socket.addEventListener("close", resolve))
    const opened = new Promise((resolve) => socket.addEventListener("open", resolve))
    expect(await Promise.race([closed.then(() => "closed"), opened.then(() => "opened")])).toBe(
      "closed",
    )
    return guest
  }

  test("that is refused is reported separately", async () => {
    const guest = await refuse(
      `export default () => new Response("no sockets", { status: 403, headers: { "x-a": "b" } })`,
    )
    const refused = (await guest.message(({ kind }) => kind === "refused")) as Refused
    expect(refused).toMatchObject({ run: "socket", status: 403 })
    expect(refused.headers).toContainEqual(["x-a", "b"])
    expect(atob(refused.body)).toBe("no sockets")
  })

  test("that is refused with an endless stream is truncated", async () => {
    const guest = await refuse(
      `export default () => new Response(new ReadableStream({ pull(to) { to.enqueue(new Uint8Array(40000)) } }))`,
    )
    const refused = (await guest.message(({ kind }) => kind === "refused")) as Refused
    expect(atob(refused.body)).toHaveLength(65_536)
  })

  test("whose val throws fails its run", async () => {
    const guest = await refuse(`export default async () => { await 0; throw new Error("no") }`)
    expect((await guest.uncaught("socket")).error?.message).toBe("no")
  })
})
