import { type ErrorCode, errorCodes } from "../errors.ts"
import type { Method, RouteDefinition } from "../route.ts"
import { type RouteName, routeNames, routes } from "../routes.ts"

/** What a client needs of a row of the route table. */
export interface RouteFacts {
  readonly method: Method
  readonly path: string
  /**
   * Fields that are not in the path go into a JSON body; otherwise into the query, unless the body
   * is bytes.
   */
  readonly hasBody: boolean
  /** The body is the caller's content, as it is. */
  readonly isBytesBody: boolean
  readonly response: "json" | "text" | "bytes" | "none"
}

/** What a client needs of the contract. */
export interface ContractFacts {
  readonly routes: Readonly<Record<RouteName, RouteFacts>>
  readonly errorCodes: readonly ErrorCode[]
}

/**
 * Extracts the facts from the contract. The client uses a generated literal, contract.ts, because
 * the rows contain zod schemas: importing them would make a client ten times as large, and add a
 * tenth of a second to its start.
 */
export function readContractFacts(): ContractFacts {
  const facts = routeNames.map((name) => [name, toRouteFacts(name, routes[name])])
  return { routes: Object.fromEntries(facts), errorCodes: Object.keys(errorCodes) as ErrorCode[] }
}

function toRouteFacts(name: RouteName, route: RouteDefinition): RouteFacts {
  // Callers pass one flat object, and only these two facts decide where its fields go.
  if ((route.body || route.isBytesBody) && route.query)
    throw new Error(`Cannot make a client method of "${name}": it has both a query and a body`)
  return {
    method: route.method,
    path: route.path,
    hasBody: route.body !== undefined,
    isBytesBody: route.isBytesBody ?? false,
    response: toResponseKind(Object.values(route.responses)),
  }
}

function toResponseKind(
  responses: readonly RouteDefinition["responses"][number][],
): RouteFacts["response"] {
  if (responses.every((response) => response === null)) return "none"
  if (responses.includes("bytes")) return "bytes"
  return responses.some((response) => Array.isArray(response)) ? "text" : "json"
}
