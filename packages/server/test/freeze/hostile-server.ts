import { smallValues } from "./worst-values.ts"

const megabyte = 1_048_576

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
      await request.arrayBuffer()
      const { pathname } = new URL(request.url)
      if (pathname === "/unread") return new Response(inChunks(true))
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

/** Without a length, so that its end is a chunk of its own. */
function inChunks(hasEnd: boolean): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("x"))
      if (hasEnd) controller.close()
    },
  })
}
