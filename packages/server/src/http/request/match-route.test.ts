import { describe, expect, test } from "bun:test"
import { type RouteDefinition, type RouteName, routeNames, routes } from "@hamlet/contract"
import fc from "fast-check"
import { matchRoute, methodsOf } from "./match-route.ts"

const table: readonly (readonly [RouteName, RouteDefinition])[] = routeNames.map((name) => [
  name,
  routes[name],
])
const namesIn = (path: string) => Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name ?? "")
const fill = (path: string, values: readonly string[]) => {
  let index = 0
  return path.replace(/\{\w+\}/g, () => values[index++] ?? "")
}
/** Any non-empty path segment without a slash. */
const segment = fc.oneof(
  fc.string({ unit: "binary", minLength: 1 }).map(encodeURIComponent),
  fc.constantFrom(
    "a",
    "vals",
    "v1",
    "me",
    "runs",
    "versions",
    "like",
    "__proto__",
    "constructor",
    "%",
    "%zz",
    "@ada",
    "x@3",
    "..",
    "{val_id}",
  ),
)
/** Whether a path has more than what is before the rest parameter of another. */
const isBelow = (path: string, rest: string) => {
  const [have, want] = [path.split("/"), rest.split("/").slice(0, -1)]
  return have.length > want.length && want.every((part, index) => part === have[index])
}
/** Under /v1 a trailing slash is ignored. */
const withoutSlash = (path: string) =>
  path.startsWith("/v1/") ? path.replace(/(.)\/$/, "$1") : path
/** The routes at a path, found by a linear search. */
const routesAt = (path: string) =>
  table.filter(([, route]) => {
    if (route.isRestPath) {
      const [want, have] = [route.path.split("/"), path.split("/")]
      const before = want.slice(0, -1)
      return (
        have.slice(want.length - 1).join("/") !== "" &&
        before.every((part, index) =>
          part.startsWith("{") ? (have[index] ?? "") !== "" : part === have[index],
        )
      )
    }
    const [want, have] = [route.path.split("/"), withoutSlash(path).split("/")]
    return (
      want.length === have.length &&
      want.every((part, index) =>
        part.startsWith("{") ? have[index] !== "" : part === have[index],
      )
    )
  })

describe("matchRoute", () => {
  test.each(table)("finds %s by its path, with any parameters", (name, { method, path }) => {
    const count = namesIn(path).length
    fc.assert(
      fc.property(fc.array(segment, { minLength: count, maxLength: count }), (anyValues) => {
        // A segment with two parameters is split at its first dot, so the first one has no dot.
        const values = anyValues.map((value, index) =>
          path.includes(`{${namesIn(path)[index]}}.`) ? value.replaceAll(".", "_") : value,
        )
        const match = matchRoute(fill(path, values))
        expect(match?.routes.get(method)).toBe(name)
        expect(match?.params).toEqual(
          Object.fromEntries(namesIn(path).map((key, index) => [key, decode(values[index] ?? "")])),
        )
      }),
      { numRuns: count === 0 ? 1 : 20 },
    )
  })

  test("splits a segment with two parameters at its first dot; without a dot the second is empty", () => {
    const paramsOf = (last: string) => matchRoute(`/v1/run/${last}`)?.params
    expect(paramsOf("ada.hello")).toEqual({ username: "ada", val_name: "hello" })
    expect(paramsOf("a%2Eb.c.d%20e")).toEqual({ username: "a.b", val_name: "c.d e" })
    expect(paramsOf("ada")).toEqual({ username: "ada", val_name: "" })
    expect(paramsOf(".")).toEqual({ username: "", val_name: "" })
  })

  test("finds exactly the routes of the table for any path", () => {
    const words = fc.constantFrom(
      ...new Set(table.flatMap(([, { path }]) => path.split("/"))),
      "",
      "x",
      "V1",
    )
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 7 }), (parts) => {
        const path = `/${parts.join("/")}`
        const expected = new Map(routesAt(path).map(([name, { method }]) => [method, name]))
        expect(matchRoute(path)?.routes ?? new Map()).toEqual(expected)
      }),
      { numRuns: 2000 },
    )
  })

  // The matcher does not backtrack: it prefers a literal segment and never tries the parameter.
  test("has no two routes that match the same path", () => {
    for (const [name, route] of table) {
      for (const [other, { path }] of table) {
        if (route.path === path || name === other) continue
        const [left, right] = [route.path.split("/"), path.split("/")]
        // A rest parameter matches everything below it.
        if ((routes[other] as RouteDefinition).isRestPath)
          expect([name, other, isBelow(route.path, path)]).toEqual([name, other, false])
        const isParam = (part = "") => part.startsWith("{")
        const isSame =
          left.length === right.length &&
          left.every((part, at) => part === right[at] || isParam(part) || isParam(right[at]))
        // A literal takes precedence, so routes conflict only if each has one where the other has none.
        const isEither = isSame && left.some((part, at) => isParam(part) && !isParam(right[at]))
        const isOther = isSame && right.some((part, at) => isParam(part) && !isParam(left[at]))
        expect([name, other, isSame && isEither === isOther]).toEqual([name, other, false])
      }
    }
  })

  test("has the same parameter names for all methods of a path", () => {
    const shapes = Map.groupBy(table, ([, { path }]) => path.replace(/\{\w+\}/g, "{}"))
    for (const [, group] of shapes) expect(new Set(group.map(([, { path }]) => path)).size).toBe(1)
  })

  test.each([
    "",
    "/",
    "//",
    "/v1",
    "/v1/",
    "/V1/vals",
    "/v1/vals//",
    "/v1//vals",
    "/v1/vals//versions",
    "/v1/vals/x/versions//",
    "/v1/vals/x/y/z",
    "/v3/vals",
    "/v1/me//",
    "/v1/blobs/x",
  ])("finds nothing at %j", (path) => {
    expect(matchRoute(path)).toBeUndefined()
  })

  test.each([
    ["/v1/alias/a%2Fb/c", { username: "a/b", val_name: "c" }],
    ["/v1/alias/%40ada/hello", { username: "@ada", val_name: "hello" }],
    ["/v1/alias/%zz/%E0%A4%A", { username: "%zz", val_name: "%E0%A4%A" }],
    ["/v1/alias/a+b/c", { username: "a+b", val_name: "c" }],
    ["/v/__proto__/constructor", { username: "__proto__", val_name: "constructor" }],
  ])("parses the parameters of %s", (path, params) => {
    expect(matchRoute(path)?.params).toEqual(params)
  })
})

describe("matchRoute with a rest parameter", () => {
  test.each([
    ["/v1/blob/a", "a"],
    ["/v1/blob/a/b//c/", "a/b//c/"],
    ["/v1/blob//", "/"],
    ["/v1/blob/a%2Fb", "a/b"],
    ["/v1/blob/a/../b/./..", "a/../b/./.."],
    ["/v1/blob/100%", "100%"],
    ["/v1/blob/100%25", "100%"],
    ["/v1/blob/%252F", "%2F"],
    ["/v1/blob/%zz%C3%A9/%E0%A4", "%zzé/%E0%A4"],
    ["/v1/blob/%3F%23+%20", "?#+ "],
    ["/v1/blob/vals/versions", "vals/versions"],
  ])("parses %s as the key %j", (path, key) => {
    const match = matchRoute(path)
    expect([match?.routes.get("get"), match?.params]).toEqual(["getBlob", { key }])
  })

  test("preserves any key, with encoded or plain slashes", () => {
    const key = fc.string({ unit: "binary", minLength: 1 })
    fc.assert(
      fc.property(key, (text) => {
        expect(matchRoute(`/v1/blob/${encodeURIComponent(text)}`)?.params).toEqual({ key: text })
        expect(
          matchRoute(`/v1/blob/${text.split("/").map(encodeURIComponent).join("/")}`)?.params,
        ).toEqual({ key: text })
      }),
    )
  })

  test("does not match the path before the parameter, with or without a trailing slash", () => {
    for (const path of ["/v1/blob", "/v1/blob/"])
      expect(matchRoute(path)?.routes.get("get")).toBe("listBlobs")
  })
})

describe("methodsOf", () => {
  test.each([
    ["/v1/vals", ["GET", "HEAD", "OPTIONS", "POST", "PUT"]],
    ["/v1/vals/x", ["DELETE", "GET", "HEAD", "OPTIONS", "PUT"]],
    ["/v1/vals/x/like", ["DELETE", "GET", "HEAD", "OPTIONS", "PUT"]],
    ["/v1/users", ["GET", "HEAD", "OPTIONS", "POST"]],
    ["/v1/blob/a/b", ["DELETE", "GET", "HEAD", "OPTIONS", "POST"]],
    ["/healthz", ["GET", "HEAD", "OPTIONS"]],
  ])("%s supports %j", (path, methods) => {
    const match = matchRoute(path)
    expect(match && methodsOf(match)).toEqual(methods)
  })
})

function decode(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
