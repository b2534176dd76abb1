import { type RouteName, routes } from "@hamlet/contract"
import type { SlowRequest } from "../../freeze/door.ts"
import { bodyBytesMax } from "../../freeze/worst-values.ts"
import { type Operation, operations } from "../../fuzz/operations.ts"
import type { World } from "../world/world.ts"
import { largestValue } from "./largest-value.ts"
import { type RouteRow, worstRoutes } from "./routes.ts"

/** Bytes of an item of a body, beside its largest text. */
const restBytes = 2_000

/** A request to the API, and the statuses that it may have. */
export interface RouteDoor {
  readonly name: string
  readonly also: readonly number[]
  /** Whether it is sent without a token, as a stranger does. */
  readonly isPublic: boolean
  toRequest(world: World): SlowRequest
}

/** Each route with each of its largest requests. */
export const worstRouteDoors: readonly RouteDoor[] = (
  Object.keys(worstRoutes) as RouteName[]
).flatMap((route) => {
  const given = worstRoutes[route]
  const rows: readonly RouteRow[] = "length" in given ? given : [given as RouteRow]
  return rows.map((row, index) => ({
    name: rows.length === 1 ? `route ${route}` : `route ${route} ${index + 1}`,
    also: row.also ?? [],
    isPublic: routes[route].auth !== "required" && routes[route].method === "get",
    toRequest: (world) => toRequest(route, row, world),
  }))
})

function toRequest(route: RouteName, row: RouteRow, world: World): SlowRequest {
  const operation = operations.find(({ id }) => id === route)
  if (!operation) throw new Error(`Cannot find route "${route}": no document has it`)
  const names = { ...toNames(world), ...row.path?.(world) }
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    // A path of a file stays one.
    encodeURIComponent(names[name] ?? "").replaceAll("%2F", "/"),
  )
  const query = row.query?.(world) ?? toLargestPage(operation)
  const body = toBody(operation, row, world)
  return {
    method: operation.method,
    path: query === "" ? path : `${path}?${query}`,
    ...(body === undefined ? {} : { body }),
  }
}

function toNames(world: World): Readonly<Record<string, string>> {
  return {
    val_id: world.valId,
    version: "1",
    user_id: world.userId,
    username: "ada",
    val_name: "worst1",
    run_id: world.runId,
    comment_id: world.commentId,
    webhook_id: world.webhookId,
    key: "large",
    name: "FREEZE",
    variable: "FREEZE",
    branch_id: world.otherBranchId,
    file_id: world.valId,
    module: "blob",
    code: "1",
    file_path: "main.tsx",
    org_id: world.userId,
  }
}

function toLargestPage({ parameters }: Operation): string {
  const limit = parameters.find(({ name }) => name === "limit")
  return limit ? `limit=${limit.schema.maximum}` : ""
}

function toBody(operation: Operation, row: RouteRow, world: World): SlowRequest["body"] {
  const body = row.body?.(world)
  if (typeof body === "string" || body instanceof Uint8Array) return body
  if (!operation.body) return undefined
  const bytes = bodyBytesMax - restBytes - JSON.stringify(body ?? {}).length
  const { properties = {} } = operation.body
  const left = Object.entries(properties).filter(([name]) => !(name in (body ?? {})))
  const value = largestValue({ ...operation.body, properties: Object.fromEntries(left) }, bytes)
  return JSON.stringify({ ...(value as object), ...body })
}
