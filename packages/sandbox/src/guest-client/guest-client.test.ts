import { afterEach, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { PoolLimits } from "@hamlet/http1"
import { waitUntil } from "@hamlet/kit/testing"
import type { ProgramResponse } from "../program/runner.ts"
import type { GuestExchange, GuestFailure, GuestRequest } from "./guest-client.ts"
import { GuestClient, guestClientLimits } from "./guest-client.ts"

type Socket = Bun.Socket<{ text: string; bytes: number }>
/** What a process does with what it has got on a connection so far. */
type Act = (socket: Socket, text: string, index: number) => unknown

/** A process that says what the test wants, and a client for it. */
class Stage {
  readonly #folder = mkdtempSync(join(tmpdir(), "hamlet-client-"))
  readonly #listener: Bun.UnixSocketListener<Socket["data"]>
  readonly client: GuestClient
  readonly sockets: Socket[] = []
  closed = 0
  /** How often the outcome of a request was reported. */
  heard = 0
  /** What could be written further when there is room again. */
  onDrain: ((socket: Socket) => void) | undefined

  constructor(act: Act, limits: Partial<PoolLimits> = {}) {
    const unix = join(this.#folder, "in.sock")
    this.#listener = Bun.listen<Socket["data"]>({
      unix,
      socket: {
        open: (socket) => {
          socket.data = { text: "", bytes: 0 }
          this.sockets.push(socket)
        },
        data: (socket, bytes) => {
          socket.data.bytes += bytes.length
          if (socket.data.bytes < 1_000_000) socket.data.text += bytes.toString("latin1")
          act(socket, socket.data.text, this.sockets.indexOf(socket))
        },
        drain: (socket) => this.onDrain?.(socket),
        close: () => void this.closed++,
      },
    })
    this.client = new GuestClient(unix, { ...guestClientLimits, ...limits })
  }

  /** Sends a request, and gives what came of it. */
  ask(more: Partial<GuestRequest> = {}): Promise<ProgramResponse | GuestFailure> {
    return this.begin(more).outcome
  }

  begin(more: Partial<GuestRequest> = {}): {
    exchange: GuestExchange
    outcome: Promise<ProgramResponse | GuestFailure>
  } {
    const { promise, resolve } = Promise.withResolvers<ProgramResponse | GuestFailure>()
    const request: GuestRequest = {
      method: "GET",
      host: "a",
      path: "/",
      headers: [],
      body: null,
      ...more,
    }
    const hear = (outcome: ProgramResponse | GuestFailure) => {
      this.heard++
      resolve(outcome)
    }
    return {
      exchange: this.client.send(request, { onResponse: hear, onFailure: hear }),
      outcome: promise,
    }
  }

  async text(more: Partial<GuestRequest> = {}): Promise<string> {
    const outcome = await this.ask(more)
    if ("kind" in outcome) return `${outcome.kind}: ${outcome.message}`
    return new Response(outcome.body as ReadableStream | null).text()
  }

  stop(): void {
    this.client.stop()
    this.#listener.stop(true)
    rmSync(this.#folder, { recursive: true })
  }
}

let stage: Stage
afterEach(() => stage.stop())

const say = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
const chunks = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const requests = (text: string) => text.split("\r\n\r\n").length - 1

describe("GuestClient", () => {
  test("reuses a connection, and opens others only for simultaneous requests", async () => {
    stage = new Stage((socket, text, index) => socket.write(say(`${index}/${requests(text)}`)))
    expect([await stage.text(), await stage.text()]).toEqual(["0/1", "0/2"])
    expect((await Promise.all([stage.text(), stage.text(), stage.text()])).sort()).toEqual([
      "0/3",
      "1/1",
      "2/1",
    ])
    expect(stage.client.size).toBe(3)
  })

  test("limits the number and the age of idle connections", async () => {
    stage = new Stage((socket) => socket.write(say("x")), { pooledMax: 2, pooledMsMax: 1000 })
    const beganMs = performance.now()
    await Promise.all(Array.from({ length: 5 }, () => stage.text()))
    expect(stage.client.size).toBe(2)
    stage.client.sweep(beganMs + 500)
    expect(stage.client.size).toBe(2)
    stage.client.sweep(performance.now() + 1500)
    expect(stage.client.size).toBe(0)
    await waitUntil(() => stage.closed === 5)
    expect(await stage.text()).toBe("x")
  })

  for (const [title, answer] of [
    ["sends more than one response", `${say("x")}HTTP/1.1 200 OK`],
    [
      "sends connection: close",
      "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx",
    ],
  ] as const) {
    test(`does not reuse a connection when the server ${title}`, async () => {
      stage = new Stage((socket) => socket.write(answer))
      expect(await stage.text()).toBe("x")
      expect(stage.client.size).toBe(0)
      expect([await stage.text(), stage.sockets.length]).toEqual(["x", 2])
    })
  }

  test("closes a connection that sends unsolicited bytes", async () => {
    stage = new Stage((socket) => socket.write(say("x")))
    await stage.text()
    stage.sockets[0]?.write(say("forged"))
    await waitUntil(() => stage.client.size === 0)
    expect(await stage.text()).toBe("x")
  })

  test("retries a request once when a reused connection is stale", async () => {
    let answers = 1
    stage = new Stage((socket) => (answers-- > 0 ? socket.write(say("x")) : socket.terminate()))
    expect(await stage.text()).toBe("x")
    expect(await stage.text()).toBe("closed: the connection was closed before the response")
    expect([stage.sockets.length, stage.sockets[1]?.data.text.length]).toEqual([
      2,
      (stage.sockets[0]?.data.text.length as number) / 2,
    ])
    expect(await stage.text()).toStartWith("closed")
    expect(stage.sockets.length).toBe(3)
  })

  for (const [title, more] of [
    ["whose method changes things", { method: "DELETE" }],
    ["with a body", { method: "POST", body: Buffer.from("x") }],
  ] as const) {
    test(`never repeats a request ${title}`, async () => {
      let answers = 1
      stage = new Stage((socket) => (answers-- > 0 ? socket.write(say("x")) : socket.terminate()))
      await stage.text()
      expect(await stage.text(more)).toStartWith("closed")
      expect(stage.sockets.length).toBe(1)
    })
  }

  test("never repeats a request that got a part of a response", async () => {
    stage = new Stage((socket, text) =>
      requests(text) === 1 ? socket.write(say("x")) : socket.end("HTTP/1.1 2"),
    )
    await stage.text()
    expect(await stage.text()).toBe("closed: the connection was closed before its end")
    expect(stage.sockets.length).toBe(1)
  })

  test("reports that nothing listens, and that the client was stopped", async () => {
    stage = new Stage(() => {})
    const nobody = new GuestClient("/nowhere/in.sock")
    const heard = Promise.withResolvers<GuestFailure>()
    nobody.send(
      { method: "GET", host: "a", path: "/", headers: [], body: null },
      { onResponse() {}, onFailure: heard.resolve },
    )
    expect((await heard.promise).kind).toBe("closed")
    const waiting = stage.text()
    await waitUntil(() => stage.sockets.length === 1)
    stage.client.stop()
    expect([await waiting, await stage.text()]).toEqual([
      "closed: the process has ended",
      "closed: the process has ended",
    ])
    expect(stage.client.size).toBe(0)
  })

  test("refuses a request that could be read as another", async () => {
    stage = new Stage((socket) => socket.write(say("x")))
    expect(await stage.text({ headers: [["x", "y\r\nevil: 1"]] })).toStartWith("unsendable")
    expect(await stage.text()).toBe("x")
  })

  test("abort closes the connection to the process", async () => {
    stage = new Stage(
      (socket, text) => text.includes("/begin") && socket.write(`${chunks}3\r\nabc\r\n`),
    )
    const silent = stage.begin()
    await waitUntil(() => stage.sockets.length === 1 && stage.sockets[0]?.data.text !== "")
    silent.exchange.abort()
    expect(await silent.outcome).toMatchObject({ kind: "aborted" })
    await waitUntil(() => stage.closed === 1)
    const begun = stage.begin({ path: "/begin" })
    const { body } = (await begun.outcome) as ProgramResponse
    begun.exchange.abort()
    begun.exchange.abort()
    expect(await new Response(body as ReadableStream).text().catch((error) => error.message)).toBe(
      "the request was aborted",
    )
    await waitUntil(() => stage.closed === 2)
    // Before there is a connection at all.
    const early = stage.begin()
    early.exchange.abort()
    expect(await early.outcome).toMatchObject({ kind: "aborted" })
    await waitUntil(() => stage.client.size === 0)
    expect(stage.heard).toBe(3)
  })
})

describe("GuestClient, the body of a response", () => {
  test("arrives in chunks as they are sent, and its connection is reused", async () => {
    const later: (() => void)[] = []
    stage = new Stage((socket, text) => {
      if (requests(text) > 1) return socket.write(say("next"))
      later.push(
        () => socket.write("3\r\ndef\r\n"),
        () => socket.write("0\r\n\r\n"),
      )
      return socket.write(`${chunks}3\r\nabc\r\n`)
    })
    const { body } = (await stage.ask()) as ProgramResponse
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    const read = async () => Buffer.from((await reader.read()).value ?? []).toString()
    expect(await read()).toBe("abc")
    later[0]?.()
    expect(await read()).toBe("def")
    later[1]?.()
    expect((await reader.read()).done).toBe(true)
    expect([await stage.text(), stage.sockets.length]).toEqual(["next", 1])
  })

  test("ends with the connection when it has no length", async () => {
    stage = new Stage((socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${"x".repeat(100_000)}`))
    expect(await stage.text()).toBe("x".repeat(100_000))
    expect(stage.client.size).toBe(0)
  })

  test("fails when the connection breaks, without effect on other readers", async () => {
    stage = new Stage((socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc`))
    const read = await stage.text().catch((error: Error) => error.message)
    expect(read).toBe("the connection was closed before its end")
    await stage.ask()
    await waitUntil(() => stage.client.size === 0)
  })

  test("closes the connection when it is cancelled", async () => {
    stage = new Stage((socket) => socket.write(`${chunks}3\r\nabc\r\n`))
    const { body } = (await stage.ask()) as ProgramResponse
    await (body as ReadableStream).cancel()
    await waitUntil(() => stage.closed === 1)
    expect(stage.client.size).toBe(0)
  })

  test("is read no faster than its reader takes it", async () => {
    const part = Buffer.alloc(65_536, 120)
    const bytes = 40 * 1024 ** 2
    let sent = 0
    const pour = (socket: Socket) => {
      while (sent < bytes) {
        const count = socket.write(part, 0, Math.min(part.length, bytes - sent))
        sent += Math.max(0, count)
        if (count < part.length) return
      }
    }
    stage = new Stage((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\n\r\n`)
      pour(socket)
    })
    stage.onDrain = pour
    const { body } = (await stage.ask()) as ProgramResponse
    for (let count = 0; count < 100; count++) await turn()
    expect(sent).toBeLessThan(4 * 1024 ** 2)
    let read = 0
    let most = 0
    for await (const { length } of body as ReadableStream<Uint8Array>) {
      read += length
      most = Math.max(most, sent - read)
    }
    expect(read).toBe(bytes)
    expect(most).toBeLessThan(4 * 1024 ** 2)
    await waitUntil(() => stage.client.size === 1)
  })
})

describe("GuestClient, the body of a request", () => {
  const stream = (
    parts: readonly string[],
    more: Partial<UnderlyingDefaultSource<Uint8Array>> = {},
  ) => {
    const left = parts.map((part) => Buffer.from(part))
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        const part = left.shift()
        if (part) controller.enqueue(part)
        else controller.close()
      },
      ...more,
    })
  }
  const bodyOf = (text: string) => text.slice(text.indexOf("\r\n\r\n") + 4)

  test("is sent with its length, or in chunks", async () => {
    stage = new Stage(
      (socket, text) =>
        /(?:abcdef|abc\r\n3\r\ndef\r\n0\r\n\r\n)$/.test(text) && socket.write(say("x")),
    )
    const post = (body: GuestRequest["body"], headers: GuestRequest["headers"] = []) =>
      stage.text({ method: "POST", body, headers })
    expect(await post(Buffer.from("abcdef"))).toBe("x")
    expect(await post(stream(["abc", "", "def"]), [["content-length", "6"]])).toBe("x")
    expect(await post(stream(["abc", "", "def"]))).toBe("x")
    const text = stage.sockets[0]?.data.text ?? ""
    expect(text).toContain("content-length: 6\r\n\r\nabcdef")
    expect(bodyOf(text)).toEndWith(
      "transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n",
    )
    expect(stage.sockets.length).toBe(1)
  })

  for (const [title, parts] of [
    ["shorter", ["abc"]],
    ["longer", ["abcdefg"]],
  ] as const) {
    test(`that is ${title} than declared ends the connection`, async () => {
      stage = new Stage(() => {})
      expect(
        await stage.text({
          method: "POST",
          body: stream(parts),
          headers: [["content-length", "6"]],
        }),
      ).toContain(`it is ${title}`)
      await waitUntil(() => stage.closed === 1)
    })
  }

  test("that always has a part ready does not block the event loop", async () => {
    stage = new Stage(() => {})
    let pulled = 0
    let pulledAtTurn: number | undefined
    const body = stream([], {
      pull(controller) {
        // The first part is pulled before the connection is open.
        if (pulled++ === 2)
          setImmediate(() => {
            pulledAtTurn = pulled
          })
        if (pulledAtTurn === undefined) controller.enqueue(new Uint8Array(1))
        else controller.error(new Error("a turn has passed"))
      },
    })
    const headers = [["content-length", "10000000"]] as const
    expect(await stage.text({ method: "POST", body, headers })).toContain("a turn has passed")
    // Without a pause it would be what the buffers of the socket hold: more than 200,000.
    expect(pulledAtTurn).toBeLessThan(100_000)
  })

  test("that fails ends the connection", async () => {
    stage = new Stage(() => {})
    const body = stream([], { pull: (controller) => controller.error(new Error("gone")) })
    expect(await stage.text({ method: "POST", body })).toBe("body: the request body failed: gone")
    await waitUntil(() => stage.closed === 1)
  })

  test("is no longer read after the response has ended, and its connection is not reused", async () => {
    const cancelled = Promise.withResolvers<void>()
    stage = new Stage((socket) => socket.write(say("enough")))
    const body = stream([], {
      pull: (controller) => controller.enqueue(Buffer.from("more")),
      cancel: () => cancelled.resolve(),
    })
    expect(await stage.text({ method: "POST", body })).toBe("enough")
    await cancelled.promise
    expect(stage.client.size).toBe(0)
  })

  test("is sent while the response is still arriving", async () => {
    stage = new Stage((socket, text) => {
      if (socket.data.bytes === text.length && !text.includes("abc")) socket.write(chunks)
      if (text.includes("abc")) socket.write("3\r\nabc\r\n0\r\n\r\n")
    })
    const begun = Promise.withResolvers<void>()
    const body = stream([], {
      async pull(controller) {
        await begun.promise
        controller.enqueue(Buffer.from("abc"))
      },
    })
    const { body: answer } = (await stage.ask({ method: "POST", body })) as ProgramResponse
    begun.resolve()
    expect(await new Response(answer as ReadableStream).text()).toBe("abc")
  })

  test("is not mixed up with other requests while the process does not read it", async () => {
    const post = (char: string) =>
      stage.begin({ method: "POST", body: Buffer.alloc(60_000, char) }).outcome
    let isReading = false
    stage = new Stage((socket, text, index) => {
      if (index === 0 && !isReading) socket.pause()
      if (text.endsWith("bb")) socket.write(say("x"))
    })
    // The process answers without reading, so that in the end not all of a request fits between us
    // and it.
    let settled = 0
    let begun = 0
    const next = () => {
      begun++
      void post("a").then(() => settled++)
    }
    for (next(); begun < 6; next()) {
      await waitUntil(() => (stage.sockets[0]?.data.bytes ?? 0) > 0)
      // The request is sent at the end of the turn.
      await turn()
      await turn()
      if (begun < 5) stage.sockets[0]?.write(say("x"))
      await waitUntil(() => settled === Math.min(begun, 4))
    }
    await Promise.all([post("b"), post("b")])
    isReading = true
    const first = stage.sockets[0] as Socket
    first.resume()
    await waitUntil(() => first.data.bytes > 240_000)
    for (let count = 0; count < 100; count++) await turn()
    expect(first.data.text).not.toContain("bb")
  })

  test("that was not read completely is the last on its connection, even with a response", async () => {
    stage = new Stage((socket) => socket.pause())
    const body = Buffer.alloc(2_000_000)
    const { outcome } = stage.begin({ method: "POST", body })
    await waitUntil(() => (stage.sockets[0]?.data.bytes ?? 0) > 0)
    stage.sockets[0]?.write(say("x"))
    expect(await outcome).toMatchObject({ status: 200 })
    expect(stage.client.size).toBe(0)
  })

  test("is read no faster than the process reads it", async () => {
    const bytes = 40 * 1024 ** 2
    let isReading = false
    let pulled = 0
    let most = 0
    stage = new Stage((socket) => {
      if (!isReading) socket.pause()
      if (socket.data.bytes > bytes) socket.write(say("all"))
    })
    const body = stream([], {
      pull(controller) {
        most = Math.max(most, pulled - (stage.sockets[0]?.data.bytes ?? 0))
        pulled += 65_536
        if (pulled <= bytes) controller.enqueue(new Uint8Array(65_536))
        else controller.close()
      },
    })
    const answer = stage.text({
      method: "POST",
      body,
      headers: [["content-length", String(bytes)]],
    })
    await waitUntil(() => stage.sockets.length === 1 && pulled > 0)
    for (let count = 0; count < 100; count++) await turn()
    expect(pulled).toBeLessThan(4 * 1024 ** 2)
    isReading = true
    stage.sockets[0]?.resume()
    expect(await answer).toBe("all")
    expect(most).toBeLessThan(4 * 1024 ** 2)
    expect(stage.client.size).toBe(1)
  })
})
