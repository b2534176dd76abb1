import { type ErrorCode, errorCodes } from "../errors.ts"
import type { RouteDefinition } from "../route.ts"
import { type RouteName, routeNames, routes } from "../routes.ts"

/** What a client needs of the contract. */
export interface ContractFacts {
  /** A row per route: method, path, body and response, as `toRequest` reads it. */
  readonly routes: Readonly<Record<RouteName, string>>
  readonly errorCodes: readonly ErrorCode[]
}

/**
 * Extracts the facts from the contract. The client uses a generated literal, contract.ts, because
 * the rows contain zod schemas: importing them would make a client ten times as large, and add a
 * tenth of a second to its start.
 */
export function readContractFacts(): ContractFacts {
  const rows = routeNames.map((name) => [name, toRow(routes[name])])
  return { routes: Object.fromEntries(rows), errorCodes: Object.keys(errorCodes) as ErrorCode[] }
}

/**
 * Callers pass one flat object. Its fields go into the body or, without one, into the query; where a
 * route has both, the path names those of the query.
 */
function toRow(route: RouteDefinition): string {
  const hasBody = route.body !== undefined || route.isBytesBody === true
  const named = hasBody && route.query ? `?${Object.keys(route.query.shape).join("&")}` : ""
  const body = route.isBytesBody ? "bytes" : route.body ? "json" : "none"
  const path = `${route.path}${named}`
  return [route.method, path, body, toResponseKind(Object.values(route.responses))].join(" ")
}

function toResponseKind(responses: readonly RouteDefinition["responses"][number][]): string {
  if (responses.every((response) => response === null)) return "none"
  if (responses.includes("bytes")) return "bytes"
  return responses.some((response) => Array.isArray(response)) ? "text" : "json"
}
