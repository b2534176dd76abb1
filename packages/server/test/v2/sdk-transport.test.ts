import { afterAll, beforeEach, describe, expect, test } from "bun:test"
import ValTown from "@valtown/sdk"
import { Cursor, PageCursorURL } from "@valtown/sdk/pagination"
import { Listing, SdkTransport } from "./sdk-transport.ts"

/** How both clients went about a call: their requests, and the result or the error. */
interface Outcome {
  readonly requests: readonly string[]
  readonly result: unknown
}

let requests: string[] = []
let respond: (turn: number) => Response
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  fetch(request) {
    const { pathname, search } = new URL(request.url)
    const names = [...request.headers.keys()].filter((name) => name.startsWith("x-stainless-"))
    const accept = request.headers.get("accept")
    const retry = request.headers.get("x-stainless-retry-count")
    requests.push(`${request.method} ${pathname}${search} ${accept} ${retry} ${names.join()}`)
    return respond(requests.length - 1)
  },
})
const baseUrl = server.url.origin
const transport = new SdkTransport({ baseUrl, apiKey: "key" })
const official = new ValTown({ baseURL: baseUrl, bearerToken: "key" })

beforeEach(() => {
  requests = []
})
afterAll(() => server.stop(true))

async function outcomeOf(call: () => PromiseLike<unknown>): Promise<Outcome> {
  requests = []
  const result = await Promise.resolve()
    .then(call)
    .catch((error: { status: unknown; message: unknown; constructor: { name: string } }) => [
      error.constructor.name.replace(/^(APIError|SdkError)$/, "error"),
      error.status,
      error.message,
    ])
  return { requests, result }
}

describe("SdkTransport does as an official client of the same make", () => {
  const soon = { "retry-after-ms": "1" }
  const json = (body: unknown, init?: ResponseInit) => () => Response.json(body, init)
  const responses: Record<string, (turn: number) => Response> = {
    JSON: json({ a: 1 }),
    "a JSON string": json("ok"),
    "JSON of another type": () => new Response("{}", { headers: { "content-type": "a/b+json" } }),
    text: () => new Response("text"),
    "JSON that says it is text": () =>
      new Response('{"a":1}', { headers: { "content-type": "text/plain" } }),
    "no content": () => new Response(null, { status: 204 }),
    "an error with a message": json({ message: "No" }, { status: 400 }),
    "an error whose message is no text": json({ message: { a: 1 } }, { status: 403 }),
    "an error without a message": json({ error: "No" }, { status: 404 }),
    "an error that is text": () => new Response("No", { status: 422 }),
    "an error without a body": () => new Response(null, { status: 418 }),
    "401": json({ message: "No" }, { status: 401 }),
    "409 twice": (turn) => Response.json({ turn }, { status: turn < 2 ? 409 : 200, headers: soon }),
    "408 for ever": json({ message: "No" }, { status: 408, headers: soon }),
    "429 for ever": json({ message: "No" }, { status: 429, headers: soon }),
    "503 for ever": json({ message: "No" }, { status: 503, headers: soon }),
    "409 that says no": json(
      { message: "No" },
      { status: 409, headers: { "x-should-retry": "false" } },
    ),
    "400 that says yes": (turn) =>
      Response.json(
        { turn },
        { status: turn < 1 ? 400 : 200, headers: { ...soon, "x-should-retry": "true" } },
      ),
  }
  for (const [title, response] of Object.entries(responses))
    test(`with ${title}`, async () => {
      respond = response
      const query = { empty: "", yes: true, zero: 0, absent: undefined }
      const ours = await outcomeOf(() => transport.send({ method: "GET", path: "/a%2Fb", query }))
      const theirs = await outcomeOf(() => official.get("/a%2Fb", { query }))
      expect(ours).toEqual(theirs)
    })

  for (const [kind, Page] of [
    ["links", PageCursorURL],
    ["cursor", Cursor],
  ] as const)
    test(`with pages that go on by ${kind}`, async () => {
      respond = (turn) =>
        Response.json({
          data: turn === 2 ? [] : [turn],
          links: { next: `${baseUrl}/list?limit=2&offset=${turn + 1}` },
        })
      const query = { limit: 5, path: "", recursive: true }
      const ours = await outcomeOf(() =>
        Array.fromAsync(new Listing(transport, { method: "GET", path: "/list", query }, kind)),
      )
      const theirs = await outcomeOf(async () =>
        Array.fromAsync(
          official.getAPIList<number, PageCursorURL<number> | Cursor<number>>("/list", Page, {
            query,
          }),
        ),
      )
      expect(ours.requests).toHaveLength(3)
      expect(ours).toEqual(theirs)
    })
})
