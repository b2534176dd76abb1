import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { findImportedNames, orderVals } from "./order-vals.ts"

describe("orderVals", () => {
  const namesOf = (graph: Readonly<Record<string, readonly string[]>>) =>
    orderVals(Object.entries(graph).map(([name, imports]) => ({ name, imports }))).map(
      ({ name }) => name,
    )

  test("sorts imported vals first, ignoring case and unknown names", () => {
    expect(namesOf({ app: ["lib", "gone"], other: [], LIB: ["base"], base: [] })).toEqual([
      "base",
      "LIB",
      "app",
      "other",
    ])
  })

  test("contains every val once, also with circular imports", () => {
    expect(namesOf({ a: ["b"], b: ["c"], c: ["a"], d: ["d", "a"] })).toEqual(["c", "b", "a", "d"])
  })

  test("handles a chain longer than the call stack", () => {
    const chain = Array.from({ length: 100_000 }, (_, index) => ({
      name: `v${index}`,
      imports: [`v${index + 1}`],
    }))
    expect(orderVals(chain)[0]?.name).toBe("v99999")
  })

  test("never sorts a val before its imports, unless there is a cycle", () => {
    const edges = fc.array(fc.tuple(fc.nat(19), fc.nat(19)), { maxLength: 60 })
    fc.assert(
      fc.property(edges, (edges) => {
        // From higher to lower numbers only, so that there is no circle.
        const imports = (index: number) =>
          edges.filter(([from, to]) => from === index && to < from).map(([, to]) => `v${to}`)
        const vals = Array.from({ length: 20 }, (_, index) => ({
          name: `v${index}`,
          imports: imports(index),
        })).reverse()
        const ordered = orderVals(vals)
        const place = new Map(ordered.map(({ name }, index) => [name, index]))
        expect(place.size).toBe(20)
        for (const { name, imports } of ordered)
          for (const other of imports) expect(place.get(other)).toBeLessThan(place.get(name) ?? -1)
      }),
    )
  })
})

test("findImportedNames finds possible vals", () => {
  const code = `
import a from "https://esm.town/v/ada/One"
import { b } from 'http://localhost:8080/v/@ada/two@3?x'
export * from "./three.tsx"; import("../ada/four")
import "npm:zod"; import x from "https://deno.land/x/five.ts"
const text = "/v/ada/six"`
  expect(findImportedNames(code)).toEqual(["one", "two", "three", "four"])
})
