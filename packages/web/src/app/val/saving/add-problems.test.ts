import { expect, test } from "bun:test"
import { addProblems } from "./add-problems.ts"

test("addProblems has each problem of a file once, and not all of them", () => {
  const known = [{ message: "one" }, { path: "a.ts", message: "two" }]
  const found = [
    { path: "a.ts", message: "two" },
    { path: "b.ts", message: "two" },
  ]
  expect(addProblems(known, found)).toEqual([...known, { path: "b.ts", message: "two" }])
  const many = Array.from({ length: 1_000 }, (_, index) => ({ message: `${index}` }))
  expect(addProblems([], many)).toHaveLength(100)
})
