import { ApiError, ConnectionError, createClient, LinkError } from "../../src/client.ts"

// This program runs on every platform, so it uses only the client and what all platforms have.

/** Defined by the bundler. */
declare const SMOKE_BASE_URL: string

/** What came of each step. */
export const result = await smoke(SMOKE_BASE_URL)

console.log(JSON.stringify(result))

async function smoke(baseUrl: string): Promise<unknown[]> {
  const client = createClient({
    baseUrl,
    token: "secret",
    clock: { now: Date.now, sleep: async () => {} },
  })
  const val_id = "0190a6b1-7e3c-7c4d-8f5e-0123456789ab"
  const stop = new AbortController()
  const steps: [string, () => Promise<unknown>][] = [
    ["json", () => client.getVal({ val_id })],
    ["text", () => client.getModule({ username: "@ada", val_name: "hello@3" })],
    ["nothing", () => client.deleteVal({ val_id })],
    [
      "body",
      () => client.createVersion({ val_id, code: "é😀\n" }, { ifMatch: 3, idempotencyKey: "k" }),
    ],
    [
      "etag",
      async () =>
        (await client.raw.getValByName({ username: "ada", val_name: "hello" })).headers.get("etag"),
    ],
    ["items", () => collect(client.items("listVals", { limit: 2 }))],
    ["retry", () => client.getMe()],
    ["api error", () => client.getUser({ user_id: val_id })],
    ["redirect", () => client.getDocs()],
    ["timeout", () => client.getMetrics({}, { timeoutMs: 20 })],
    ["foreign link", () => collect(client.items("listTokens"))],
    ["abort", () => client.getReadiness({}, { signal: stop.signal })],
    ["refused", () => createClient({ baseUrl: "http://127.0.0.1:9", retriesMax: 0 }).getMe()],
  ]
  stop.abort(new Error("enough"))
  const results: unknown[] = []
  for (const [title, step] of steps)
    results.push([title, await step().then((value) => value ?? null, describe)])
  return results
}

async function collect(source: AsyncIterable<unknown>): Promise<unknown[]> {
  const items: unknown[] = []
  for await (const item of source) items.push(item)
  return items
}

function describe(error: unknown): unknown {
  if (error instanceof ApiError) return [error.name, error.code]
  if (error instanceof ConnectionError || error instanceof LinkError) return [error.name]
  return [String(error)]
}
