import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { limits, type valResponse } from "@hamlet/contract"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import type { z } from "zod"
import type { HamletProcess } from "../support/processes/hamlet-process.ts"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

type ValResponse = z.output<typeof valResponse>

const title = "requests to sandboxed vals through the API, and previews of them"
/**
 * What is kept of so many answers, were it never let go, is more than twice what the server may
 * grow by.
 */
const sizes = { growthBytesMax: 100 * 1024 ** 2, answersBefore: 16, answers: 96 }

// One answer takes as long as an answer may, and a busy machine is slow with giant ones.
setDefaultTimeout(180_000)

if (Bun.which("bwrap")) describe(title, define)
else notRun(title, "bubblewrap is not installed")

function define(): void {
  let fixture: ServerFixture
  let hamlet: HamletProcess
  let baseUrl = ""
  /** Takes as long as an answer may, so that it is begun before everything else. */
  let endless: Promise<ValResponse>
  beforeAll(async () => {
    fixture = await openServerFixture()
    const served = await fixture.serve({ HAMLET_LOG_LEVEL: "error", HAMLET_RUN_SECONDS_MAX: "10" })
    hamlet = served.hamlet
    baseUrl = `http://127.0.0.1:${new URL(served.baseUrl).port}`
    const id = await save(
      "events",
      `export default () => new Response(new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode("data: first\\n\\n"))
        },
      }), { headers: { "content-type": "text/event-stream" } })`,
    )
    endless = send(id)
    endless.catch(() => {})
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const call = (method: string, path: string, body?: object) =>
    fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${chosenToken}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const save = async (name: string, code: string): Promise<string> => {
    const response = await call("PUT", "/v1/vals", { name, code, type: "http", privacy: "private" })
    expect(response.status).toBe(200)
    return ((await response.json()) as { id: string }).id
  }
  const send = async (id: string, request: object = {}): Promise<ValResponse> => {
    const response = await call("POST", `/v1/vals/${id}/requests`, {
      method: "GET",
      path: "/",
      ...request,
    })
    expect(response.status).toBe(200)
    return (await response.json()) as ValResponse
  }
  const runOf = async ({ runId }: ValResponse) =>
    (await (await call("GET", `/v1/runs/${runId}`)).json()) as { status: string; logs: unknown[] }
  const previewHost = async (id: string) =>
    new URL(((await (await call("POST", `/v1/vals/${id}/preview`)).json()) as { url: string }).url)
      .host
  const rss = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${hamlet.pid}/status`, "utf8"))?.[1]) * 1024

  test("a val gets the request, and its run is recorded with the response", async () => {
    const id = await save(
      "seen",
      `export default async (request: Request) => {
        console.log("asked")
        return Response.json([request.method, new URL(request.url).pathname, request.headers.get("x-mine"), await request.text()])
      }`,
    )
    const answer = await send(id, {
      method: "PATCH",
      path: "/a/b?c",
      headers: [["x-mine", "1"]],
      body: "é",
    })
    expect(JSON.parse(answer.body)).toEqual(["PATCH", "/a/b", "1", "é"])
    expect(await runOf(answer)).toMatchObject({ status: "succeeded" })
  })

  test("a val that throws and a val that times out give a response", async () => {
    const thrown = await send(
      await save("throws", `export default () => { throw new RangeError("too far") }`),
    )
    expect([thrown.status, thrown.body]).toEqual([502, expect.stringContaining("too far")])
    expect(await runOf(thrown)).toMatchObject({ status: "failed" })
    const slow = await send(
      await save("slow", "export default () => new Promise<Response>(() => {})"),
    )
    expect(slow.status).toBe(504)
    expect(await runOf(slow)).toMatchObject({ status: "timed_out" })
  })

  test("a large response uses no more memory than is kept of it", async () => {
    const id = await save(
      "giant",
      `const piece = new Uint8Array(1_000_000)
      export default () => new Response(new ReadableStream({ pull: (controller) => controller.enqueue(piece) }))`,
    )
    const sendSome = async () => {
      for (const answer of await Promise.all([send(id), send(id), send(id), send(id)])) {
        expect(answer).toMatchObject({ isBase64: true, isTruncated: true })
        expect(Buffer.from(answer.body, "base64")).toHaveLength(limits.responseBytesMax)
      }
    }
    // What a few at once take is what many take one after the other.
    for (let sent = 0; sent < sizes.answersBefore; sent += 4) await sendSome()
    const before = rss()
    for (let sent = 0; sent < sizes.answers; sent += 4) await sendSome()
    // Garbage may be there for a while; what is kept stays.
    await waitUntil(() => rss() - before < sizes.growthBytesMax)
  })

  test("a val that requests itself is stopped", async () => {
    const id = await save(
      "circle",
      `export default async (request: Request) => {
        const [id, count] = new URL(request.url).pathname.slice(1).split("/")
        const asked = fetch(\`\${Deno.env.get("HAMLET_URL")}/v1/vals/\${id}/requests\`, {
          method: "POST",
          headers: { authorization: "Bearer ${chosenToken}" },
          body: JSON.stringify({ method: "GET", path: \`/\${id}/\${Number(count) + 1}\` }),
        })
        return asked.then(async (response) => new Response((await response.json()).body), (error) => new Response(count + error.message))
      }`,
    )
    const answer = await send(id, { path: `/${id}/0` })
    expect(answer.body).toMatch(
      /^15Cannot fetch .* programs have called one another 15 times already$/,
    )
  })

  test("a preview shows a private val to a browser without credentials, and opens WebSockets", async () => {
    const id = await save(
      "chat",
      `export default (request: Request) => {
        if (request.headers.get("upgrade") !== "websocket") return new Response(new URL(request.url).host)
        const { socket, response } = Deno.upgradeWebSocket(request)
        socket.onmessage = ({ data }) => socket.send("echo " + data)
        return response
      }`,
    )
    const host = await previewHost(id)
    const response = await fetch(`${baseUrl}/`, { headers: { host } })
    expect([
      response.status,
      await response.text(),
      response.headers.get("referrer-policy"),
    ]).toEqual([200, host, "no-referrer"])
    const socket = new WebSocket(`${baseUrl.replace("http", "ws")}/`, {
      headers: { host },
    } as unknown as string[])
    const heard = new Promise((resolve) => {
      socket.addEventListener("message", ({ data }) => resolve(data))
      socket.addEventListener("close", () => resolve("closed"))
    })
    socket.addEventListener("open", () => socket.send("hello"))
    expect(await heard).toBe("echo hello")
    socket.close()
  })

  test("an endless response is returned as far as it was received", async () => {
    const answer = await endless
    expect(answer).toMatchObject({
      status: 200,
      body: "data: first\n\n",
      isBase64: false,
      isTruncated: true,
    })
    expect(await runOf(answer)).toMatchObject({ status: "succeeded" })
  })
}
