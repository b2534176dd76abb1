import { expect, test } from "bun:test"
import { findNamedType, guessFileType } from "./file-types.ts"

test("guessFileType takes code for a script, and everything else for a file", () => {
  for (const path of ["main.tsx", "a/b.ts", "x.js", "x.jsx"])
    expect(guessFileType(path)).toBe("script")
  for (const path of ["README.md", "a.json", "ts", "a.ts/b", "a.mts.txt"])
    expect(guessFileType(path)).toBe("file")
})

test("findNamedType finds the trigger before the extension of code, and nowhere else", () => {
  const found = ["http.tsx", "a/inbox.email.ts", "nightly.cron.js", "x.interval.jsx"]
  expect(found.map(findNamedType)).toEqual(["http", "email", "interval", "interval"])
  for (const path of [
    "myhttp.ts",
    "http/main.ts",
    "email.json",
    "http.client.ts",
    "constructor.ts",
  ])
    expect(findNamedType(path)).toBeUndefined()
})
