import { createServer } from "node:net"

/**
 * A gate between the program and the server: it can be shut, and hold requests or answers at chosen
 * points.
 */
export interface Gate extends AsyncDisposable {
  readonly url: string
  /** The requests that have come, as `POST /v1/vals`. */
  readonly seen: readonly string[]
  /** Connections fail from now on. The port stays taken, so that no other program gets it. */
  shut(): Promise<void>
  open(): Promise<void>
  /** Holds the next request that fits, before the server gets it or after it has answered. */
  hold(pattern: RegExp, point: "before" | "after"): Held
}

/** A request that waits. */
export interface Held {
  /** When it waits. */
  readonly isHeld: Promise<void>
  release(): void
  /** Lets the request never reach the server, or loses its answer. */
  drop(): void
}

/** Opens a gate in front of a server. */
export function openGate(target: string): Gate {
  const seen: string[] = []
  const holds = new Set<{
    pattern: RegExp
    point: string
    onHeld: () => void
    released: Promise<boolean>
  }>()
  const pass = async (line: string, point: string) => {
    const hold = [...holds].find((one) => one.point === point && one.pattern.test(line))
    if (!hold) return true
    holds.delete(hold)
    hold.onHeld()
    return hold.released
  }
  const serve = (port: number) =>
    Bun.serve({
      port,
      hostname: "127.0.0.1",
      // A request may be held for as long as a test takes.
      idleTimeout: 0,
      async fetch(request): Promise<Response> {
        const { pathname, search } = new URL(request.url)
        const line = `${request.method} ${pathname}`
        seen.push(line)
        if (!(await pass(line, "before"))) return new Response(null, { status: 502 })
        const body = request.body ? await request.bytes() : null
        const answer = await forward(target + pathname + search, request, body)
        if (!answer) return new Response(null, { status: 502 })
        const bytes = await answer.bytes().catch(() => undefined)
        if (!bytes) return new Response(null, { status: 502 })
        const isPage = answer.headers.get("content-type")?.includes("json")
        await pass(line, "after")
        const isEmpty = answer.status === 204 || answer.status === 304
        return new Response(isEmpty ? null : isPage ? throughGate(bytes) : bytes, {
          status: answer.status,
          headers: answer.headers,
        })
      },
    })
  /** The next page comes through the gate too. */
  const throughGate = (bytes: Uint8Array): string =>
    new TextDecoder().decode(bytes).replace(`"next":"${target}/`, `"next":"${toUrl()}/`)
  const toUrl = (): string => `http://127.0.0.1:${port}`
  let server = serve(0)
  const port = server.port ?? 0
  const closed = createServer((socket) => socket.resetAndDestroy())
  const close = () => new Promise<void>((resolve) => closed.close(() => resolve()))
  return {
    url: toUrl(),
    seen,
    async shut() {
      await server.stop(true)
      await new Promise<void>((resolve) => closed.listen(port, "127.0.0.1", resolve))
    },
    async open() {
      await close()
      server = serve(port)
    },
    hold(pattern, point) {
      const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()]
      holds.add({ pattern, point, onHeld: held.resolve, released: released.promise })
      return {
        isHeld: held.promise,
        release: () => released.resolve(true),
        drop: () => released.resolve(false),
      }
    },
    async [Symbol.asyncDispose]() {
      await (closed.listening ? close() : server.stop(true))
    },
  }
}

/** Undefined if the server has been killed. */
async function forward(
  url: string,
  { method, headers }: Request,
  body: Uint8Array<ArrayBuffer> | null,
): Promise<Response | undefined> {
  try {
    return await fetch(url, { method, headers, body })
  } catch {
    return undefined
  }
}
