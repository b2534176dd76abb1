import { type ErrorCode, errorCodes } from "../errors.ts"
import type { Method, RouteDefinition } from "../route.ts"
import { type RouteName, routeNames, routes } from "../routes.ts"

/** What a client has to know of a row of the route table to ask and to understand the answer. */
export interface RouteFacts {
  readonly method: Method
  readonly path: string
  /** The fields that the path does not name go into a JSON body; otherwise into the query. */
  readonly hasBody: boolean
  /** The answer is text and not JSON. */
  readonly isText: boolean
}

/** What a client has to know of the contract. */
export interface ContractFacts {
  readonly routes: Readonly<Record<RouteName, RouteFacts>>
  readonly errorCodes: readonly ErrorCode[]
}

/**
 * Reads the facts out of the contract. The client runs this as a macro, while it is being transpiled or bundled: the rows
 * carry zod schemas, and a client that imported them would be ten times the size. What comes out has to be plain data.
 */
export function readContractFacts(): ContractFacts {
  const facts = routeNames.map((name) => [name, toRouteFacts(name, routes[name])])
  return { routes: Object.fromEntries(facts), errorCodes: Object.keys(errorCodes) as ErrorCode[] }
}

function toRouteFacts(name: RouteName, route: RouteDefinition): RouteFacts {
  // A caller writes one flat object, and only these two facts say where its fields go.
  if (route.body && route.query) throw new Error(`Cannot make a client method of "${name}": it has both a query and a body`)
  return {
    method: route.method,
    path: route.path,
    hasBody: route.body !== undefined,
    isText: Object.values(route.answers).some((answer) => Array.isArray(answer)),
  }
}
