import { limits, routeNames, routes } from "@hamlet/contract"
import { operations } from "../fuzz/operations.ts"

/** A request that is made to keep the server busy. */
export interface SlowRequest {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly body?: string
}

const bodyBytesMax = 2_097_152
/** What a path names, where an attack does not care. */
const values: Readonly<Record<string, string>> = {
  val_name: "takesArgs",
  version: "1",
  username: "ada",
  name: "FREEZE",
  key: "k",
  module: "blob",
}

/** Small values, as many as fit: of all JSON it takes longest to read. */
function smallValues(bytes: number): string {
  return `[${"[],".repeat(Math.floor((bytes - 4) / 3))}1]`
}

/** The vals that attacks run, by name. Each says or returns the worst of one kind. */
export const slowVals: Readonly<Record<string, string>> = {
  returnsText: `export default () => "a".repeat(5_000_000)`,
  returnsValues: "export default () => new Array(3_700_000).fill(1)",
  takesArgs: "export default (...args) => args.length",
  logs: `export default () => { console.log("a".repeat(99_000)); for (let i = 0; i < 20; i++) console.log("a".repeat(5_000)) }`,
  throws: `export default () => { throw new Error("a".repeat(2_000_000)) }`,
  throwsLate: `export default async () => { setTimeout(() => { throw new Error("a".repeat(2_000_000)) }); await new Promise((r) => setTimeout(r, 50)) }`,
  failsToLoad: `throw new Error("a".repeat(2_000_000)); export default 1`,
}

function toPath(path: string, valId: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? valId)
}

/**
 * For every route that takes a body the largest one, with as many values as fit in each of its
 * fields.
 */
export function slowBodies(valId: string): readonly SlowRequest[] {
  return operations.flatMap(({ id, method, path, body, isBytesBody }): SlowRequest[] => {
    if (body === undefined || isBytesBody) return []
    const fields = Object.keys(body.properties ?? {})
    const share = Math.floor(bodyBytesMax / Math.max(1, fields.length)) - 100
    const parts = fields.map((field) => `${JSON.stringify(field)}:${smallValues(share)}`)
    return [
      {
        name: `${id} with small values`,
        method,
        path: toPath(path, valId),
        body: `{${parts.join()}}`,
      },
    ]
  })
}

/** For every list the largest page, and what else takes long although nothing is wrong with it. */
export function slowRoutes(valId: string): readonly SlowRequest[] {
  const lists = routeNames.flatMap((name): SlowRequest[] => {
    const { method, path, query } = routes[name] as (typeof routes)["listVals"]
    if (method !== "get" || !("limit" in (query?.shape ?? {}))) return []
    const search = name === "searchVals" ? `&query=${"-".repeat(limits.queryCharsMax - 1)}!` : ""
    return [
      {
        name: `${name} with a full page`,
        method: "GET",
        path: `${toPath(path, valId)}?limit=100${search}`,
      },
    ]
  })
  const args = `{"args":[${smallValues(bodyBytesMax - 100)}]}`
  const sound: readonly SlowRequest[] = [
    {
      name: "callVal with many arguments",
      method: "POST",
      path: "/v1/run/ada.takesArgs",
      body: args,
    },
    {
      name: "createRun with many arguments",
      method: "POST",
      path: `/v1/vals/${valId}/runs`,
      body: args,
    },
    {
      name: "createVal with escapes",
      method: "POST",
      path: "/v1/vals",
      body: `{"code":"${"\\u00e9".repeat(limits.codeCharsMax)}"}`,
    },
    {
      name: "batchSql with many statements",
      method: "POST",
      path: "/v1/sqlite/batch",
      body: JSON.stringify({
        statements: Array.from({ length: 9_000 }, () => ({ sql: "select ?, ?", args: [1, 2] })),
      }),
    },
  ]
  return [...lists, ...sound]
}
