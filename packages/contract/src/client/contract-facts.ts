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
  const rows = routeNames.map((name) => [name, toRow(name, routes[name])])
  return { routes: Object.fromEntries(rows), errorCodes: Object.keys(errorCodes) as ErrorCode[] }
}

function toRow(name: RouteName, route: RouteDefinition): string {
  // Callers pass one flat object, and only these two facts decide where its fields go.
  if ((route.body || route.isBytesBody) && route.query)
    throw new Error(`Cannot make a client method of "${name}": it has both a query and a body`)
  const body = route.isBytesBody ? "bytes" : route.body ? "json" : "none"
  return [route.method, route.path, body, toResponseKind(Object.values(route.responses))].join(" ")
}

function toResponseKind(responses: readonly RouteDefinition["responses"][number][]): string {
  if (responses.every((response) => response === null)) return "none"
  if (responses.includes("bytes")) return "bytes"
  return responses.some((response) => Array.isArray(response)) ? "text" : "json"
}
