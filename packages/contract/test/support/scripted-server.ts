/** A request as the other end saw it. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Headers
  readonly body: string
}

/** The other end of a client, on a port of its own; `await using` stops it. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string
  readonly seen: readonly Seen[]
}

/** Serves what the script answers; `turn` counts the requests from 0. */
export function startScriptedServer(
  script: (seen: Seen, turn: number) => Response | Promise<Response>,
): ScriptedServer {
  const seen: Seen[] = []
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    // A busy machine may take longer than the ten seconds after which Bun closes a connection.
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url)
      const entry = {
        method: request.method,
        path: pathname,
        query: searchParams,
        headers: request.headers,
        body: await request.text(),
      }
      return script(entry, seen.push(entry) - 1)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

/** Serves the scripted answers one after the other, the last one for ever. */
export function startSequence(...answers: readonly (() => Response)[]): ScriptedServer {
  return startScriptedServer((_, turn) =>
    (answers[Math.min(turn, answers.length - 1)] as () => Response)(),
  )
}

/**
 * A server that hangs up on the first `count` requests after it has read them, and answers the rest
 * with `{"ok":true}`.
 */
export function startHangingUp(count: number): ScriptedServer {
  const seen: Seen[] = []
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, bytes) {
        const turn = seen.push(parseSeen(bytes.toString())) - 1
        if (turn >= count)
          socket.write(
            'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\nconnection: close\r\n\r\n{"ok":true}',
          )
        socket.end()
      },
    },
  })
  return {
    url: `http://127.0.0.1:${listener.port}`,
    seen,
    async [Symbol.asyncDispose]() {
      listener.stop(true)
    },
  }
}

/** The requests of these tests are small enough to arrive as one piece. */
function parseSeen(request: string): Seen {
  const [head = "", body = ""] = request.split("\r\n\r\n")
  const [start = "", ...lines] = head.split("\r\n")
  const [method = "", target = ""] = start.split(" ")
  const { pathname, searchParams } = new URL(target, "http://127.0.0.1")
  const headers = new Headers(lines.map((line) => line.split(": ", 2) as [string, string]))
  return { method, path: pathname, query: searchParams, headers, body }
}
