import { describe, expect, test } from "bun:test"
import { contract } from "../src/client/contract.ts"
import { readContractFacts } from "../src/client/contract-facts.ts"
import type { RouteDefinition } from "../src/route.ts"
import { routeNames, routes } from "../src/routes.ts"

describe("routes", () => {
  for (const name of routeNames) {
    const route: RouteDefinition = routes[name]
    test(`${name}: its parameters are those of the path, each once`, () => {
      const named = Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, param]) => param as string)
      expect(Object.keys(route.params?.shape ?? {}).sort()).toEqual(named.sort())
    })

    test(`${name}: no field is in two places, because the client takes one flat object`, () => {
      const body = (route.body as { shape?: object } | undefined)?.shape ?? {}
      const fields = [route.params?.shape ?? {}, route.query?.shape ?? {}, body].flatMap(
        Object.keys,
      )
      expect(new Set(fields).size).toBe(fields.length)
    })

    test(`${name}: its fields are consistent`, () => {
      expect(route.path).toMatch(/^\/[^?#]*[^/]$/)
      expect(Object.keys(route.responses).some((status) => status.startsWith("2"))).toBe(true)
      // What is deleted for good may ask for its name.
      if (route.body) expect(["post", "put", "delete"]).toContain(route.method)
      if (route.hasEtag) expect(route.method).toBe("get")
      if (route.hasIfMatch) expect(route.method).not.toBe("get")
      if (route.isBytesBody) expect([route.method, route.body]).toEqual(["post", undefined])
      // Nothing can stand behind a parameter that takes the rest.
      if (route.isRestPath) expect(route.path).toMatch(/\/\{\w+\}$/)
      if (route.isCodeBody) expect(route.body).toBeDefined()
      if (route.auth === "none") expect(route.scope).toBeUndefined()
      // Every signed-in caller may sign out.
      if (route.auth === "required" && name !== "signOut") expect(route.scope).toBeDefined()
    })
  }

  test("no two have the same method and path", () => {
    const keys = routeNames.map(
      (name) => `${routes[name].method} ${routes[name].path.replace(/\{\w+\}/g, "{}")}`,
    )
    expect(new Set(keys).size).toBe(keys.length)
  })

  test("no route has the name of another member of the client", () => {
    for (const name of ["raw", "pages", "items", "follow", "then"])
      expect(routeNames as readonly string[]).not.toContain(name)
  })
})

test("contract matches the route table; npm run check -- --fix updates it", () => {
  expect(contract).toEqual(readContractFacts())
})
