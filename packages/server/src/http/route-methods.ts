import { type RouteDefinition, routeNames, routes } from "@hamlet/contract"

const table = routeNames.map((name) => {
  const { method, path }: RouteDefinition = routes[name]
  return { method: method.toUpperCase(), pattern: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}/?$`) }
})

/** The methods that a path takes; none when no route has it. */
export function findMethods(path: string): readonly string[] {
  const methods = table.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  if (methods.length === 0) return []
  return [...(methods.includes("GET") ? ["HEAD"] : []), ...methods, "OPTIONS"].sort()
}
