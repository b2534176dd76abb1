import { describe, expect, test } from "bun:test"
import { createFakeClock } from "../../test/support/fake-clock.ts"
import {
  startHangingUp,
  startScriptedServer,
  startSequence,
} from "../../test/support/scripted-server.ts"
import { ApiError, type ClientOptions, ConnectionError, createClient } from "../client.ts"
import { systemClock } from "./clock.ts"

const val_id = "0190a6b1-7e3c-7c4d-8f5e-0123456789ab"
const ok = () => Response.json({ ok: true })
const failing =
  (status: number, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ message: "no" }, { status, headers })
const output = { ok: true } as unknown

function start(baseUrl: string, options: Partial<ClientOptions> = {}) {
  const clock = createFakeClock(Date.UTC(2024, 0, 1))
  return {
    clock,
    client: createClient({ baseUrl, token: "secret", clock, random: () => 0, ...options }),
  }
}

describe("send, when the server responds,", () => {
  const table: [
    title: string,
    answers: (() => Response)[],
    requests: number,
    waitsMs: number[],
    status: number,
  ][] = [
    [
      "repeats after 503, a little later each time",
      [failing(503), failing(503), ok],
      3,
      [500, 1_000],
      200,
    ],
    [
      "repeats after 429 when retry-after says",
      [failing(429, { "retry-after": "7" }), ok],
      2,
      [7_000],
      200,
    ],
    [
      "repeats at the date that retry-after says",
      [failing(503, { "retry-after": "Mon, 01 Jan 2024 00:00:09 GMT" }), ok],
      2,
      [9_000],
      200,
    ],
    [
      "repeats what x-should-retry asks to repeat",
      [failing(409, { "x-should-retry": "true" }), ok],
      2,
      [500],
      200,
    ],
    [
      "does not repeat what x-should-retry asks not to",
      [failing(503, { "x-should-retry": "false" }), ok],
      1,
      [],
      503,
    ],
    ["does not repeat a 500", [failing(500), ok], 1, [], 500],
    ["does not repeat a 404", [failing(404), ok], 1, [], 404],
    [
      "does not repeat a success, whatever x-should-retry says",
      [() => Response.json({}, { headers: { "x-should-retry": "true" } })],
      1,
      [],
      200,
    ],
    ["gives up after two retries", [failing(503)], 3, [500, 1_000], 503],
  ]
  for (const [title, answers, requests, waitsMs, status] of table) {
    test(title, async () => {
      await using server = startSequence(...answers)
      const { client, clock } = start(server.url)
      const result = await client.raw.getMe().catch((error: ApiError) => error)
      expect(result.status).toBe(status)
      expect(server.seen).toHaveLength(requests)
      expect(clock.waitsMs).toEqual(waitsMs)
    })
  }

  test("sends the same idempotency key and body with each attempt of a POST", async () => {
    await using server = startSequence(failing(503), failing(429), ok)
    await start(server.url).client.createVal({ code: "1" })
    expect(server.seen).toHaveLength(3)
    expect(new Set(server.seen.map((seen) => seen.headers.get("idempotency-key"))).size).toBe(1)
    expect(server.seen.map((seen) => seen.body)).toEqual(Array(3).fill('{"code":"1"}'))
  })

  test("does not repeat anything when retriesMax is 0", async () => {
    await using server = startSequence(failing(503))
    await expect(start(server.url, { retriesMax: 0 }).client.getMe()).rejects.toBeInstanceOf(
      ApiError,
    )
    expect(server.seen).toHaveLength(1)
  })

  test.each([200, 500])("reads no endless response, with status %d", async (status) => {
    let sent = 0
    await using server = startScriptedServer(
      () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              sent += 1
              controller.enqueue(new Uint8Array(1_000))
            },
          }),
          { status },
        ),
    )
    const { client } = start(server.url, { responseBytesMax: 100_000 })
    expect(await client.getMe().catch((error: unknown) => error)).toMatchObject({
      name: "ApiError",
      message: `Cannot GET "${server.url}/v1/me": the response is larger than 100000 bytes`,
    })
    expect(server.seen).toHaveLength(1)
    expect(sent).toBeGreaterThan(100)
  })

  test("does not follow a redirect, so that the token stays with the server it is for", async () => {
    await using other = startSequence(ok)
    await using server = startSequence(() => Response.redirect(`${other.url}/v1/me`, 307))
    const { client } = start(server.url)
    expect(await client.getMe().catch((error: unknown) => error)).toMatchObject({
      name: "ApiError",
      status: 307,
      code: "unknown",
      message: `Cannot GET "${server.url}/v1/me": the server redirects`,
    })
    expect(other.seen).toHaveLength(0)
    expect(server.seen).toHaveLength(1)
  })
})

describe("send, when the connection fails,", () => {
  test("repeats GET, PUT and DELETE", async () => {
    for (const call of ["getVal", "updateVal", "deleteVal"] as const) {
      await using server = startHangingUp(2)
      const { client, clock } = start(server.url)
      await client.raw[call]({ val_id, name: "x" })
      expect(server.seen).toHaveLength(3)
      expect(clock.waitsMs).toEqual([500, 1_000])
    }
  })

  test("repeats POST with one idempotency key", async () => {
    await using server = startHangingUp(1)
    expect(
      await start(server.url).client.createVersion({ val_id, code: "1" }, { ifMatch: 3 }),
    ).toEqual(output as never)
    expect(server.seen).toHaveLength(2)
    expect(server.seen[1]?.headers.get("idempotency-key")).toBe(
      server.seen[0]?.headers.get("idempotency-key") as string,
    )
  })

  test("does not repeat PUT or DELETE with If-Match, whose second attempt would conflict with the first", async () => {
    await using server = startHangingUp(1)
    const error = await start(server.url)
      .client.saveVal({ name: "hello", code: "1" }, { ifMatch: 3 })
      .catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(ConnectionError)
    expect(server.seen).toHaveLength(1)
  })

  test("gives up with a ConnectionError that has its cause and not the token", async () => {
    await using server = startHangingUp(Number.POSITIVE_INFINITY)
    const error = await start(server.url)
      .client.getMe()
      .catch((cause: unknown) => cause as ConnectionError)
    expect(error).toBeInstanceOf(ConnectionError)
    expect(error).toMatchObject({
      name: "ConnectionError",
      message: `Cannot GET "${server.url}/v1/me": the connection failed`,
    })
    expect((error as ConnectionError).cause).toBeInstanceOf(Error)
    expect(Bun.inspect(error)).not.toContain("secret")
    expect(server.seen).toHaveLength(3)
  })

  test.each([
    Object.assign(new TypeError("fetch failed"), { cause: { code: "CERT_HAS_EXPIRED" } }),
    Object.assign(new Error("self signed certificate"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }),
  ])("names a certificate that was not accepted: %s", async (refusal) => {
    const { client } = start("https://vals.example", { fetch: () => Promise.reject(refusal) })
    const error = await client.getMe().catch((cause: unknown) => cause as ConnectionError)
    expect((error as ConnectionError).message).toMatch(
      /: the certificate of the server was not accepted \((CERT_HAS_EXPIRED|DEPTH_ZERO_SELF_SIGNED_CERT)\)$/,
    )
  })

  test("treats a timeout like a failed connection", async () => {
    await using server = startScriptedServer(() => new Promise(() => {}))
    const { client, clock } = start(server.url, { timeoutMs: 20 })
    const error = await client.getMe().catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(ConnectionError)
    expect((error as ConnectionError).message).toBe(
      `Cannot GET "${server.url}/v1/me": no response within 20 ms`,
    )
    expect(clock.waitsMs).toHaveLength(2)
  })

  test("includes the body in the time limit, and lets a call set its own", async () => {
    await using server = startScriptedServer(
      () => new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array(1)) })),
    )
    const { client } = start(server.url, { retriesMax: 0, timeoutMs: Number.POSITIVE_INFINITY })
    expect(
      await client.getMe({}, { timeoutMs: 20 }).catch((cause: unknown) => cause),
    ).toBeInstanceOf(ConnectionError)
  })

  test("accepts an infinite time limit, though a timer would fire at once", async () => {
    const slowFetch = async (_url: string, init: RequestInit) => {
      // Timers go off in the order of their times: one that overflowed has gone off when this one
      // does.
      await systemClock.sleep(2)
      init.signal?.throwIfAborted()
      return ok()
    }
    const { client } = start("http://localhost", {
      retriesMax: 0,
      timeoutMs: Number.POSITIVE_INFINITY,
      fetch: slowFetch,
    })
    expect(await client.getMe()).toEqual(output as never)
  })
})

describe("send, when the caller aborts,", () => {
  const reason = new Error("enough")

  test("sends nothing after the signal", async () => {
    await using server = startSequence(ok)
    const error = await start(server.url)
      .client.getMe({}, { signal: AbortSignal.abort(reason) })
      .catch((cause: unknown) => cause)
    expect(error).toBe(reason)
    expect(server.seen).toHaveLength(0)
  })

  test("ends a request that is under way, and does not repeat it", async () => {
    for (const retriesMax of [0, 2]) {
      const controller = new AbortController()
      await using server = startScriptedServer(() => {
        controller.abort(reason)
        return new Promise(() => {})
      })
      const { client, clock } = start(server.url, { retriesMax })
      expect(
        await client.getMe({}, { signal: controller.signal }).catch((cause: unknown) => cause),
      ).toBe(reason)
      expect(server.seen).toHaveLength(1)
      expect(clock.waitsMs).toEqual([])
    }
  })

  test("ends the wait between two attempts", async () => {
    const controller = new AbortController()
    await using server = startSequence(failing(503, { "retry-after": "60" }), ok)
    const clock = {
      now: systemClock.now,
      sleep(ms: number, signal?: AbortSignal) {
        const waiting = systemClock.sleep(ms, signal)
        controller.abort(reason)
        return waiting
      },
    }
    const error = await start(server.url, { clock })
      .client.getMe({}, { signal: controller.signal })
      .catch((cause: unknown) => cause)
    expect(error).toBe(reason)
    expect(server.seen).toHaveLength(1)
  })
})

describe("systemClock", () => {
  test("sleeps, and does not begin to when the signal is aborted", async () => {
    expect(await systemClock.sleep(0, new AbortController().signal)).toBeUndefined()
    await expect(
      systemClock.sleep(2 ** 30, AbortSignal.abort(new Error("enough"))),
    ).rejects.toThrow("enough")
    expect(systemClock.now()).toBeGreaterThan(0)
  })
})
