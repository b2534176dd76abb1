import type { AttackServer, RunRecord, SavedVal } from "./attack-server.ts"

/** A run that goes on until the test ends it. */
export interface LiveRun {
  readonly id: string
  /** Lets it end, and gives its record. */
  end(): Promise<RunRecord>
}

/**
 * Code that responds to /hold with a body that ends at a request for /release, and to every other
 * path as `rest` says.
 */
export function toHoldingCode(rest = `return new Response("released")`): string {
  return `const held = new Map()
export default async function (request) {
  const url = new URL(request.url)
  const name = url.searchParams.get("name")
  if (url.pathname === "/hold") {
    console.log("begin " + name)
    const { promise, resolve } = Promise.withResolvers()
    held.set(name, resolve)
    return new Response(new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode("held"))
        await promise
        console.log("end " + name)
        controller.close()
      },
    }))
  }
  if (url.pathname === "/release") {
    held.get(name)()
    return new Response("released")
  }
  ${rest}
}
`
}

/** Begins a run of a val with the code above. */
export async function holdRun(server: AttackServer, val: SavedVal, name: string): Promise<LiveRun> {
  const response = await server.fetchVal(val, { path: `/hold?name=${name}` })
  const id = response.headers.get("x-run-id")
  if (response.status !== 200 || id === null)
    throw new Error(`the val does not hold: ${response.status} ${await response.text()}`)
  return {
    id,
    async end() {
      await server.request(val, { path: `/release?name=${name}` })
      await response.text()
      // Its last line may arrive after the end of its response.
      return server.loggedRun(id, val.owner, 2)
    },
  }
}
