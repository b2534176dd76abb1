import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type OnDeno, openDeno } from "./support/on-deno.ts"

const denoMsMax = 120_000

describe("std/openai, on Deno,", () => {
  let deno: OnDeno
  let server: ReturnType<typeof Bun.serve>
  let calls = 0
  // biome-ignore lint/suspicious/noExplicitAny: what a test has sent
  let respond: (body: any, request: Request) => Response = () => new Response()

  beforeAll(async () => {
    deno = await openDeno()
    server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        calls += 1
        return respond(await request.json(), request)
      },
    })
  })
  afterAll(async () => {
    await server.stop(true)
    await deno[Symbol.asyncDispose]()
  })

  const run = (body: string, more: Record<string, string> = { HAMLET_TOKEN: "hush" }) => {
    calls = 0
    const start = "const { OpenAI } = modules.openai, completions = new OpenAI().chat.completions;"
    return deno.run(`${start} ${body}`, { HAMLET_URL: server.url.origin, ...more })
  }
  const ask = '{ model: "m", messages: [{ role: "user", content: "é" }] }'
  const refuse = (status: number, code: string, headers: Record<string, string> = {}) =>
    Response.json({ message: `it is ${code}`, code }, { status, headers })

  test(
    "sends the body to the server with its token, and returns the completion",
    async () => {
      respond = (body, { url, headers }) =>
        Response.json([body, new URL(url).pathname, headers.get("authorization")])
      expect(await run(`return await completions.create(${ask})`)).toEqual([
        { model: "m", messages: [{ role: "user", content: "é" }] },
        "/v1/openai/chat/completions",
        "Bearer hush",
      ])
    },
    denoMsMax,
  )

  test(
    "a stream yields its chunks, however they are cut, also as lines for a browser",
    async () => {
      const text =
        'data: {"n":1,"t":"é"}\n\n: comment\n\ndata: {"n":2}\r\n\r\ndata: [DONE]\n\ndata: {"n":3}\n\n'
      respond = () => {
        const bytes = new TextEncoder().encode(text)
        return new Response(
          new ReadableStream({
            async start(controller) {
              for (let at = 0; at < bytes.length; at += 7)
                controller.enqueue(bytes.subarray(at, at + 7))
              controller.close()
            },
          }),
        )
      }
      const stream = `await completions.create({ ...${ask}, stream: true })`
      expect(await run(`return await Array.fromAsync(${stream})`)).toEqual([
        { n: 1, t: "é" },
        { n: 2 },
      ])
      expect(await run(`return await new Response((${stream}).toReadableStream()).text()`)).toBe(
        '{"n":1,"t":"é"}\n{"n":2}\n',
      )
    },
    denoMsMax,
  )

  test(
    "a stream that is left early ends the response, and an error in it is thrown",
    async () => {
      let hasEnded = false
      respond = () =>
        new Response(
          new ReadableStream({
            async pull(controller) {
              await Bun.sleep(5)
              controller.enqueue(new TextEncoder().encode('data: {"n":1}\n\n'))
            },
            cancel() {
              hasEnded = true
            },
          }),
        )
      const stream = `await completions.create({ ...${ask}, stream: true })`
      expect(await run(`for await (const chunk of ${stream}) return chunk`)).toEqual({ n: 1 })
      expect(hasEnded).toBe(true)
      respond = () => new Response('data: {"error":{"message":"broken off"}}\n\n')
      expect(await run(`for await (const chunk of ${stream}) return chunk`)).toMatchObject({
        failed: "APIError",
        message: "broken off",
      })
    },
    denoMsMax,
  )

  test(
    "errors have the class and the status of OpenAI's client",
    async () => {
      const check = `.catch((e) => [e.constructor.name, e.status, e.code, e.message, e instanceof OpenAI.APIError])`
      const cases = [
        [400, "openai_refused", "BadRequestError"],
        [501, "openai_unavailable", "InternalServerError"],
        [413, "body_too_large", "APIError"],
      ] as const
      for (const [status, code, name] of cases) {
        respond = () => refuse(status, code)
        expect(await run(`return await completions.create(${ask})${check}`)).toEqual([
          name,
          status,
          code,
          `it is ${code}`,
          true,
        ])
        expect(calls).toBe(1)
      }
    },
    denoMsMax,
  )

  test(
    "tries again when the server has no capacity, unless it would wait long",
    async () => {
      respond = () =>
        calls < 3 ? refuse(429, "rate_limited", { "retry-after": "0" }) : Response.json(1)
      expect(await run(`return await completions.create(${ask})`)).toBe(1)
      expect(calls).toBe(3)
      respond = () => refuse(429, "rate_limited", { "retry-after": "3600" })
      expect(await run(`return await completions.create(${ask})`)).toMatchObject({
        failed: "RateLimitError",
      })
      expect(calls).toBe(1)
      respond = () => refuse(429, "rate_limited", { "retry-after": "0" })
      await run(`return await completions.create(${ask}, { maxRetries: 0 })`)
      expect(calls).toBe(1)
    },
    denoMsMax,
  )

  test(
    "can be aborted, and parses JSON where it is asked to",
    async () => {
      respond = () => new Response(new ReadableStream())
      expect(
        await run(`return await completions.create(${ask}, { signal: AbortSignal.abort() })`),
      ).toMatchObject({ failed: "APIUserAbortError" })
      respond = () => Response.json({ choices: [{ message: { content: '{"a":1}' } }] })
      expect(
        await run(`return (await completions.parse(${ask})).choices[0].message.parsed`),
      ).toEqual({ a: 1 })
    },
    denoMsMax,
  )

  test(
    "says what is missing outside of a val and on another account",
    async () => {
      expect(await run(`return await completions.create(${ask})`, {})).toMatchObject({
        failed: "OpenAIError",
        message: expect.stringContaining("another user's account"),
      })
    },
    denoMsMax,
  )
})
