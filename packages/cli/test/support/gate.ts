/**
 * A gate between the program and the server: it can be shut, and hold requests or answers at chosen
 * points.
 */
export interface Gate extends AsyncDisposable {
  readonly url: string
  /** The requests that have come, as `POST /v1/vals`. */
  readonly seen: readonly string[]
  /** Closes the address: connections fail from now on. */
  shut(): Promise<void>
  open(): void
  /** Holds the next request that fits, before the server gets it or after it has answered. */
  hold(pattern: RegExp, point: "before" | "after"): Held
}

/** A request that waits. */
export interface Held {
  /** When it waits. */
  readonly isHeld: Promise<void>
  release(): void
  /** It never reaches the server, or its answer is lost. */
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
      async fetch(request) {
        const { pathname, search } = new URL(request.url)
        const line = `${request.method} ${pathname}`
        seen.push(line)
        if (!(await pass(line, "before"))) return new Response(null, { status: 502 })
        const body = request.body ? await request.bytes() : null
        const answer = await fetch(target + pathname + search, {
          method: request.method,
          headers: request.headers,
          body,
        })
        const bytes = await answer.bytes()
        await pass(line, "after")
        const isEmpty = answer.status === 204 || answer.status === 304
        return new Response(isEmpty ? null : bytes, {
          status: answer.status,
          headers: answer.headers,
        })
      },
    })
  let server = serve(0)
  const port = server.port ?? 0
  return {
    url: `http://localhost:${port}`,
    seen,
    shut: () => server.stop(true),
    open() {
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
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
