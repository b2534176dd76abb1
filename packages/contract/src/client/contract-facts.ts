import { type ErrorCode, errorCodes } from "../errors.ts"
import type { Method, RouteDefinition } from "../route.ts"
import { type RouteName, routeNames, routes } from "../routes.ts"

/** What a client has to know of a row of the route table to ask and to understand the answer. */
export interface RouteFacts {
  readonly method: Method
  readonly path: string
  /**
   * The fields that the path does not name go into a JSON body; otherwise, unless the body is
   * bytes, into the query.
   */
  readonly hasBody: boolean
  /** The body is the content that the caller hands in, as it is. */
  readonly isBytesBody: boolean
  readonly answer: "json" | "text" | "bytes" | "none"
}

/** What a client has to know of the contract. */
export interface ContractFacts {
  readonly routes: Readonly<Record<RouteName, RouteFacts>>
  readonly errorCodes: readonly ErrorCode[]
}

/**
 * Reads the facts out of the contract. The client has them as a literal in contract.ts, which is
 * made with this: the rows carry zod schemas, and a client that imported them would be ten times
 * the size and take a tenth of a second to start.
 */
export function readContractFacts(): ContractFacts {
  const facts = routeNames.map((name) => [name, toRouteFacts(name, routes[name])])
  return { routes: Object.fromEntries(facts), errorCodes: Object.keys(errorCodes) as ErrorCode[] }
}

function toRouteFacts(name: RouteName, route: RouteDefinition): RouteFacts {
  // A caller writes one flat object, and only these two facts say where its fields go.
  if ((route.body || route.isBytesBody) && route.query)
    throw new Error(`Cannot make a client method of "${name}": it has both a query and a body`)
  return {
    method: route.method,
    path: route.path,
    hasBody: route.body !== undefined,
    isBytesBody: route.isBytesBody ?? false,
    answer: toAnswerKind(Object.values(route.responses)),
  }
}

function toAnswerKind(
  answers: readonly RouteDefinition["responses"][number][],
): RouteFacts["answer"] {
  if (answers.every((answer) => answer === null)) return "none"
  if (answers.includes("bytes")) return "bytes"
  return answers.some((answer) => Array.isArray(answer)) ? "text" : "json"
}
