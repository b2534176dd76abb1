import { expect, test } from "bun:test"
import { quotedNames, toTextParts } from "./inline-code.tsx"

test("toTextParts splits at backticks and leaves a lone one", () => {
  expect(toTextParts("a `b` c")).toEqual([
    { text: "a ", isCode: false },
    { text: "b", isCode: true },
    { text: " c", isCode: false },
  ])
  expect(toTextParts("a ` b")).toEqual([{ text: "a ` b", isCode: false }])
})

test("quotedNames gives the names between backticks", () => {
  expect(quotedNames("Conflict: `name_taken`, `last_version`")).toEqual([
    "name_taken",
    "last_version",
  ])
})
