import { expect, test } from "bun:test"
import { toLanguage } from "./to-language.ts"

test("toLanguage goes by the extension", () => {
  const paths = ["a/b/main.tsx", "a/b.mjs", "a/b", "a/deno.jsonc", "a/i.html", "a/s.css", "a/R.md"]
  expect(paths.map(toLanguage)).toEqual([
    "typescript",
    "typescript",
    "typescript",
    "json",
    "html",
    "css",
    "markdown",
  ])
  expect(toLanguage("a/data.csv")).toBe("text")
})
