import {
  type Method,
  type RouteDefinition,
  type RouteName,
  routeNames,
  routes,
} from "@hamlet/contract"
import { decodePercent, decodeValidPercents } from "@hamlet/kit"

/** The routes at a path, by method, and the values of the path parameters. */
export interface RouteMatch {
  readonly routes: ReadonlyMap<Method, RouteName>
  readonly params: Readonly<Record<string, string>>
}

interface Node {
  readonly literals: Map<string, Node>
  parameter: Node | undefined
  /** The node of a parameter that matches the rest of the path, slashes included. */
  rest: Node | undefined
  readonly routes: Map<Method, RouteName>
  /** The parameter names of each segment that has some; the same for all routes at one path. */
  names: readonly (readonly string[])[]
}

const root = createTree()

/**
 * Finds the routes at a path. A literal segment takes precedence over a parameter. In the API
 * and in addresses of modules a trailing slash is ignored, except in a parameter that matches the
 * rest of the path; elsewhere a path is exact, so that a proxy that hides `/metrics` hides all of it.
 */
export function matchRoute(path: string): RouteMatch | undefined {
  const segments = path.split("/")
  const values: string[] = []
  const ignoresSlash = /^v[0-9]*$/.test(segments[1] ?? "")
  const hasTrailingSlash = ignoresSlash && segments.length > 2 && segments.at(-1) === ""
  const end = hasTrailingSlash ? segments.length - 1 : segments.length
  let node: Node | undefined = root
  for (let index = 1; index < end && node; index++) {
    if (node.rest) {
      const names = node.rest.names
      const params = {
        ...toParams(names.slice(0, -1), values),
        [names.at(-1)?.[0] ?? ""]: decodeParts(segments.slice(index).join("/")),
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

/** The methods that a path supports; HEAD comes with GET. */
export function methodsOf(match: RouteMatch): readonly string[] {
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
 * A segment with two parameters, `{username}.{val_name}`, is split at its first dot; without a dot
 * the second parameter is empty.
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

/** Longer than any request that the server accepts. */
const pathCharsMax = 65_536

/** A segment with an invalid escape is kept as it is; the schema of the parameter decides. */
function decode(segment: string): string {
  if (!segment.includes("%")) return segment
  try {
    return decodePercent(segment, pathCharsMax)
  } catch {
    return segment
  }
}

/** Decodes a rest parameter. Invalid escapes and invalid UTF-8 are kept as they are. */
function decodeParts(rest: string): string {
  return decodeValidPercents(rest, pathCharsMax)
}
