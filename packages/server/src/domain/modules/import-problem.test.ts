import { describe, expect, test } from "bun:test"
import { findImportProblem } from "./import-problem.ts"

const hosts = { baseUrls: ["https://vals.example/hamlet"] }

describe("findImportProblem", () => {
  test("says how a file of the val itself is imported", () => {
    expect(findImportProblem("/tmp/x.mjs", hosts)).toBe(
      'a file is imported by its address, "file:///tmp/x.mjs"',
    )
  })

  test.each([
    "https://vals.example/hamlet/std/nothing",
    "/hamlet/std/nothing.ts",
    "../../std/nothing",
  ])("says which standard modules exist for %s", (specifier) => {
    expect(findImportProblem(specifier, hosts)).toMatch(
      /^this server has no standard module "nothing(?:\.ts)?" \(it has .*blob.*\)$/,
    )
  })

  test.each([
    "https://esm.town/v/std/oauth/middleware.ts",
    "https://esm.town/v/@std/set?v=11",
    "https://esm.town/v/std/getLegacyImportUrl",
  ])("says that %s is not available here", (specifier) => {
    expect(findImportProblem(specifier, hosts)).toMatch(
      /^"std\/(?:oauth|set|getLegacyImportUrl)" is not available here: /,
    )
  })

  test.each([
    "https://esm.town/v/std/settings",
    "https://esm.town/v/ada/set",
    "./greet",
    "./helpers.ts",
    "../x/y.js",
    "./data.json",
    "/lib/db.ts",
    "../bob/greet@3",
    "/v/ada/x",
    "npm:zod",
    "node:fs",
    "lodash",
    "",
    "https://vals.example/hamlet/std/blob",
    "../../std/sqlite.ts",
    "https://vals.example/hamlet/v/ada/x",
    "https://esm.town/v/std/nothing",
    "https://example.com/std/x.ts",
  ])("returns undefined for %p", (specifier) => {
    expect(findImportProblem(specifier, hosts)).toBeUndefined()
  })
})
