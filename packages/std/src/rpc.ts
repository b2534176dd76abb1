/**
 * Makes a function a web address that takes arguments and returns JSON.
 *
 * ```ts
 * import { rpc } from "https://esm.town/v/std/rpc"
 *
 * export default rpc(async (a: number, b: number) => a + b)
 * ```
 *
 * `GET /?args=[1,2]`, and `POST` with the body `[1,2]` or `{"args":[1,2]}`, respond with `3`.
 *
 * @module
 */

/** A handler of requests that calls the function with the arguments of the request. */
export function rpc<Args extends unknown[], Result>(
  act: (...args: Args) => Result | Promise<Result>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const args = await readArgs(request)
    if (args === undefined)
      return Response.json(
        { error: "Cannot read the arguments: they must be a JSON array" },
        { status: 400 },
      )
    return Response.json((await act(...(args as Args))) ?? null)
  }
}

/** Undefined when they are not valid. */
async function readArgs(request: Request): Promise<unknown[] | undefined> {
  const hasBody = request.method !== "GET" && request.method !== "HEAD"
  const text =
    (hasBody ? await request.text() : "") || new URL(request.url).searchParams.get("args")
  if (!text) return []
  try {
    const value = JSON.parse(text)
    const args = Array.isArray(value) ? value : value?.args
    return Array.isArray(args) ? args : undefined
  } catch {
    return undefined
  }
}

// biome-ignore lint/style/noDefaultExport: vals choose the name under which they import it
export default rpc
