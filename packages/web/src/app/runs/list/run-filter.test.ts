import { expect, test } from "bun:test"
import { runStatus } from "@hamlet/contract"
import { isFiltered, readRunFilter, statusChoices } from "./run-filter.ts"

test.each([
  ["", {}],
  ["status=unsuccessful", { error: true }],
  ["status=timed_out&source=http", { status: ["timed_out"], source: ["http"] }],
  ["text=%20no%20luck%20", { text: "no luck" }],
  ["text=%20", {}],
  [`text=${"x".repeat(300)}`, { text: "x".repeat(200) }],
  ["status=__proto__&source=constructor", {}],
])("readRunFilter reads %s", (query, filter) => {
  expect<object>(readRunFilter(new URLSearchParams(query), undefined)).toEqual(filter)
})

test("readRunFilter adds the start of the period", () => {
  const since = "2026-01-01T00:00:00.000Z"
  expect(readRunFilter(new URLSearchParams(), since)).toEqual({ since })
})

test("statusChoices has each status of the API", () => {
  const values = statusChoices.map(({ value }) => value)
  expect(values.slice(2).toSorted()).toEqual(runStatus.options.toSorted())
})

test("isFiltered ignores the period", () => {
  expect(isFiltered(new URLSearchParams("period=1h"))).toBe(false)
  expect(isFiltered(new URLSearchParams("period=1h&text=x"))).toBe(true)
})
