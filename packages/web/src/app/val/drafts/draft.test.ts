import { expect, test } from "bun:test"
import { type Draft, parseDraft } from "./draft.ts"

const draft: Draft = {
  files: [
    { path: "new.ts", type: "script", text: "1", isDeleted: false },
    {
      saved: { id: "f", path: "a.ts", type: "script", version: 2 },
      path: "b.ts",
      type: "http",
      isDeleted: true,
    },
  ],
  baseVersion: 3,
  at: 4,
}

test("parseDraft reads what was stored", () => {
  expect(parseDraft(JSON.stringify(draft), "branch")).toEqual(draft)
})

test("parseDraft takes the text of an earlier release as that of the entry file", () => {
  const stored = JSON.stringify({ code: "typed", baseVersion: 3, at: 4 })
  const place = { path: "main.tsx", type: "script" } as const
  expect(parseDraft(stored, "branch")).toEqual({
    files: [
      { saved: { ...place, id: "branch", version: 3 }, ...place, text: "typed", isDeleted: false },
    ],
    baseVersion: 3,
    at: 4,
  })
})

test.each([
  null,
  "",
  "{",
  "null",
  "[]",
  JSON.stringify({ ...draft, at: "now" }),
  JSON.stringify({ ...draft, files: [{ path: 1 }] }),
  JSON.stringify({ ...draft, files: [{ ...draft.files[0], text: 1 }] }),
])("parseDraft reads nothing from %p", (stored) => {
  expect(parseDraft(stored, "branch")).toBeUndefined()
})
