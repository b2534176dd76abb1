import { expect, test } from "bun:test"
import { toTitle } from "./to-title.ts"

test("toTitle makes words of an operation id", () => {
  expect(["listMyRuns", "getOpenApi", "get_v1_me"].map(toTitle)).toEqual([
    "List my runs",
    "Get open API",
    "Get v1 me",
  ])
})
