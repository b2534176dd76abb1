/**
 * Fetch, as in Val Town's module. There it goes through proxies with changing addresses; here it is
 * the `fetch` of every val, which has its own address only.
 *
 * ```ts
 * import { fetch } from "https://esm.town/v/std/fetch"
 *
 * const response = await fetch("https://example.com/")
 * ```
 *
 * @module
 */

// Keeps the original: a val may replace the global later, for example in a test.
const send = globalThis.fetch

/** Sends a request, as the global `fetch` does. */
export async function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  return await send(input, init)
}

// biome-ignore lint/style/noDefaultExport: vals choose the name under which they import it
export default fetch
