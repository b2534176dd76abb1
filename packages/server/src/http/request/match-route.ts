import {
  type Method,
  type RouteDefinition,
  type RouteName,
  routeNames,
  routes,
} from "@hamlet/contract"

/** What is at a path: the route of each method, and what the path says for its parameters. */
export interface Match {
  readonly routes: ReadonlyMap<Method, RouteName>
  readonly params: Readonly<Record<string, string>>
}

interface Node {
  readonly literals: Map<string, Node>
  parameter: Node | undefined
  /** What takes all that follows, slashes included. */
  rest: Node | undefined
  readonly routes: Map<Method, RouteName>
  /**
   * The names of the parameters on the way here, for each segment that has some; all routes at one
   * path agree on them.
   */
  names: readonly (readonly string[])[]
}

const root = createTree()

/**
 * Finds what the route table has at a path. A literal segment goes before a parameter. A slash at
 * the end means nothing, but for a parameter that takes the rest of the path.
 */
export function matchRoute(path: string): Match | undefined {
  const segments = path.split("/")
  const values: string[] = []
  const end = segments.length > 2 && segments.at(-1) === "" ? segments.length - 1 : segments.length
  let node: Node | undefined = root
  for (let index = 1; index < end && node; index++) {
    if (node.rest) {
      const params = {
        [node.rest.names.at(-1)?.[0] ?? ""]: decodeParts(segments.slice(index).join("/")),
      }
      return { routes: node.rest.routes, params }
    }
    const segment = segments[index] ?? ""
    const literal: Node | undefined = node.literals.get(segment)
    if (!literal && segment !== "") values.push(segment)
    node = literal ?? (segment === "" ? undefined : node.parameter)
  }
  return node && node.routes.size > 0
    ? { routes: node.routes, params: toParams(node.names, values) }
    : undefined
}

/** The methods that a path takes, HEAD with GET. */
export function methodsOf(match: Match): readonly string[] {
  const methods = [...match.routes.keys()].map((method) => method.toUpperCase())
  return [...(methods.includes("GET") ? ["HEAD"] : []), ...methods, "OPTIONS"].sort()
}

function createTree(): Node {
  const top = createNode()
  for (const name of routeNames) {
    const { method, path, isRestPath = false }: RouteDefinition = routes[name]
    const segments = path.split("/").slice(1)
    const node = isRestPath
      ? descendToRest(segments.slice(0, -1).reduce(descend, top))
      : segments.reduce(descend, top)
    node.routes.set(method, name)
    node.names = path
      .split("/")
      .filter((segment) => segment.startsWith("{"))
      .map((segment) => [...segment.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter ?? ""))
  }
  return top
}

function createNode(): Node {
  return {
    literals: new Map(),
    parameter: undefined,
    rest: undefined,
    routes: new Map(),
    names: [],
  }
}

function descend(node: Node, segment: string): Node {
  if (segment.startsWith("{")) {
    node.parameter ??= createNode()
    return node.parameter
  }
  const next = node.literals.get(segment) ?? createNode()
  node.literals.set(segment, next)
  return next
}

function descendToRest(node: Node): Node {
  node.rest ??= createNode()
  return node.rest
}

/**
 * A segment with two parameters, `{username}.{val_name}`, is parted at its first dot; without one
 * the second is empty.
 */
function toParams(names: Node["names"], values: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {}
  for (let index = 0; index < names.length; index++) {
    const [first = "", second] = names[index] ?? []
    const value = values[index] ?? ""
    const dot = second === undefined ? -1 : value.indexOf(".")
    params[first] = decode(dot < 0 ? value : value.slice(0, dot))
    if (second !== undefined) params[second] = dot < 0 ? "" : decode(value.slice(dot + 1))
  }
  return params
}

/** Broken escapes are left as they are: the parameter's schema decides what to make of them. */
function decode(segment: string): string {
  if (!segment.includes("%")) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/**
 * The same for a rest, in which people write whatever they like: what is no escape is itself, and
 * so is what is no UTF-8.
 */
function decodeParts(rest: string): string {
  return rest.replaceAll(/(?:%[0-9a-f]{2})+/gi, decode)
}
