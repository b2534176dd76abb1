import { type RouteDefinition, routeNames, routes } from "@hamlet/contract"
import type { TestApi, TestUser } from "../support/api.ts"

/** What stands in the paths and queries of the routes. */
export type RouteValues = Readonly<Record<string, readonly (string | number)[]>>

/**
 * What is another at every moment or on every server; running a val is no question about what is
 * stored.
 */
const left: readonly string[] = [
  "getBackup",
  "getMetrics",
  "getReadiness",
  "listNodes",
  "callValByQuery",
  "evalCodeByQuery",
]

/** What is asked beside the path. */
const queries: Readonly<Record<string, readonly string[]>> = {
  searchVals: ["query=one", "query=library", "query=import%20%7B", "query=%F0%9F%A6%8A", "query=e"],
  searchCode: ["query=one"],
  listHistory: ["", "path=main.tsx"],
  listFiles: ["path=&recursive=true", "path=main.tsx&version=1"],
  getFileContent: ["path=main.tsx", "path=README.md&version=1"],
  getMyStats: ["since=2024-05-01T00:00:00Z&until=2024-05-02T00:00:00Z"],
  getValStats: ["since=2024-05-01T00:00:00Z&until=2024-05-02T00:00:00Z"],
}

/** Every answer that there is to a GET, by who asked for what; `valId` is a val that stores some. */
export async function readAllRoutes(
  api: TestApi,
  callers: readonly (TestUser | undefined)[],
  pools: RouteValues,
  valId: string,
): Promise<ReadonlyMap<string, string>> {
  const responses = new Map<string, string>()
  for (const name of routeNames) {
    const route: RouteDefinition = routes[name]
    if (route.method !== "get" || left.includes(name)) continue
    for (const path of expand(route.path, pools)) {
      const ofVal = path.startsWith("/v2/blob") ? [`val_id=${valId}`] : [""]
      for (const query of queries[name] ?? ofVal) {
        for (const caller of callers) {
          const address = query === "" ? path : `${path}?${query}`
          const { status, text } = await api.call("GET", address, { as: caller?.token })
          responses.set(
            `${name} ${address} (${caller?.username ?? "nobody"})`,
            `${status} ${mask(text)}`,
          )
        }
      }
    }
  }
  return responses
}

function expand(path: string, pools: RouteValues): readonly string[] {
  const [found, param = ""] = /\{(\w+)\}/.exec(path) ?? []
  if (found === undefined) return [path]
  const pool = pools[param]
  if (!pool) throw new Error(`Cannot walk ${path}: nothing to put in the place of ${found}`)
  return pool.flatMap((value) => expand(path.replace(found, encodeURIComponent(value)), pools))
}

/**
 * A request has an id of its own, a token was used last when it was used for this, and what
 * happened since the start of the server did not happen on the other. How large the file of a
 * database is depends on when it was tidied up. The audit log tells of each backup that is taken,
 * of those between the two servers too.
 */
function mask(text: string): string {
  return text
    .replaceAll(/"(requestId|lastUsedAt|countedSince)":("[^"]*"|null)/g, '"$1":"…"')
    .replaceAll(/"(requestsLastMinute|requestsSinceStart)":\d+/g, '"$1":0')
    .replaceAll(/\{"id":"[^"]*","at":"[^"]*","action":"backup\.read".*?"details":\{\}\},?/g, "")
    .replace(/(name="csp-nonce" content=)"[^"]*"/, '$1"…"')
    .replace(/"sqlite":{"bytes":\d+/, '"sqlite":{"bytes":0')
    .replace(/^{"since":"[^"]*","until":"[^"]*"/, '{"since":"…","until":"…"')
}
