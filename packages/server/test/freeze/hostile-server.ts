import { smallValues } from "./worst-values.ts"

const megabyte = 1_048_576
/** Chunks of a response, each of one byte. */
const pieces = 200_000

/** A server outside that answers everything with as much as it can. */
export interface HostileServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
}

/** Starts it: what it answers depends on the path. */
export function startHostileServer(): HostileServer {
  const json = smallValues(20 * megabyte)
  const nulls = new Uint8Array(20 * megabyte)
  const headers = Object.fromEntries(
    Array.from({ length: 90 }, (_, index) => [`x-${index}`, "a".repeat(100)]),
  )
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname.startsWith(libsqlPath)) return answerPipeline(await request.text(), json)
      await request.arrayBuffer()
      if (pathname === "/unread") return new Response(inChunks(true))
      if (pathname === "/pieces") return new Response(pourPieces() as unknown as BodyInit)
      if (pathname === "/endless") return new Response(inChunks(false))
      if (pathname === "/hook") return new Response(nulls, { status: 400, headers })
      // A language model refuses with a long reason.
      if (pathname.endsWith("/chat/completions"))
        return new Response(`{"error":${smallValues(60_000)}}`, { status: 400 })
      return new Response(json, { headers: { "content-type": "application/json" } })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port ?? 0,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

/** The path of what takes itself for a libSQL server. */
export const libsqlPath = "/libsql/"

/** What is asked for, which a statement names, comes as the largest response of its kind. */
function answerPipeline(body: string, json: string): Response {
  const isSchema = body.includes("from sqlite_schema")
  const isOwn = body.includes("from databases")
  if (isOwn)
    return new Response(`{"results":[{"type":"ok","response":{"result":{"rows":${json}}}}]}`)
  if (isSchema)
    return Response.json({ baton: null, results: [1, 2, 3, 4].map(() => toOk(versionRows)) })
  if (body.includes("'endless'")) return new Response(pour())
  if (body.includes("'nested'")) return new Response("[".repeat(32_000))
  if (body.includes("'digits'")) return toBatch([[{ type: "integer", value: "9".repeat(30_000) }]])
  const small = { type: "integer", value: "1" }
  return toBatch(Array.from({ length: body.includes("'many'") ? 200_000 : 900 }, () => [small]))
}

/** Tables at one moment: version 1, and none. */
const versionRows = [[{ type: "integer", value: "1" }]]

function toOk(rows: readonly unknown[]) {
  return { type: "ok", response: { result: { rows } } }
}

function toBatch(rows: readonly unknown[]): Response {
  const step = { cols: [{ name: "a", decltype: null }], rows: [], affected_row_count: 0 }
  const result = {
    step_results: [step, step, { ...step, rows }, step],
    step_errors: [null, null, null, null],
  }
  return Response.json({ baton: null, results: [{ type: "ok", response: { result } }] })
}

function pour(): ReadableStream<Uint8Array> {
  const part = new Uint8Array(megabyte)
  return new ReadableStream({ pull: (controller) => controller.enqueue(part) })
}

/** Chunks of one byte, as many as the other side takes. */
async function* pourPieces(): AsyncGenerator<Uint8Array, void> {
  const piece = new TextEncoder().encode("x")
  for (let count = 0; count < pieces; count++) yield piece
}

/** Without a length, so that its end is a chunk of its own. */
function inChunks(hasEnd: boolean): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("x"))
      if (hasEnd) controller.close()
    },
  })
}
