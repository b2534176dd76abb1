import { describe, expect, test } from "bun:test"
import { mayImport } from "./import-address.ts"
import {
  hasRemoteImports,
  isRemoteImport,
  listRemoteImports,
  mayImportRemote,
} from "./remote-imports.ts"

const hosts = { baseUrls: ["https://vals.example/hamlet"] }

describe("isRemoteImport", () => {
  const remote = [
    "npm:zod",
    "npm:@scope/x@^1/deep",
    "NPM:zod",
    " npm:zod",
    "jsr:@std/assert",
    "https://esm.sh/react",
    "HTTP://example.com/x.ts",
    "https://vals.example/x",
    "https://vals.example/hamletish/v/ada/x",
    "https://vals.example:444/hamlet/v/ada/x",
    "http://vals.example/hamlet/v/ada/x",
    "https://esm.town/x.ts",
    "http://esm.town/v/ada/x",
    "https://esm.town.evil.example/v/ada/x",
    "https://user:pass@example.com/x",
  ]
  test.each(remote)("returns true for %s", (specifier) => {
    expect(isRemoteImport(specifier, hosts)).toBe(true)
  })

  const near = [
    "node:fs",
    "fs",
    "lodash",
    "./x",
    "../ada/x",
    "/v/ada/x",
    "",
    "data:text/javascript,1",
    "file:///etc/passwd",
    "blob:https://example.com/1",
    "https:",
    "https://",
    "https://vals.example/hamlet/v/ada/x",
    "https://vals.example/hamlet/v/ada/x@3?y#z",
    "https://vals.example/hamlet",
    "https://vals.example/hamlet/anything.ts",
    "https://vals.example/hamlet/std/blob",
    "https://esm.town/v/ada/x",
    "https://esm.town/v/std/blob",
    "https://esm.town/v/ada/x/deeper.ts",
  ]
  test.each(near)("returns false for %s", (specifier) => {
    expect(isRemoteImport(specifier, hosts)).toBe(false)
  })
})

describe("isRemoteImport, when vals of esm.town are fetched,", () => {
  const fetching = { ...hosts, fetchesTown: true }
  const val = "https://esm.town/v/ada/x"

  test("returns true for a val that is not here, and for a file of a project", () => {
    expect(isRemoteImport(val, fetching, new Set())).toBe(true)
    expect(isRemoteImport("https://esm.town/v/ada/x/deeper.ts", fetching)).toBe(true)
  })

  test("returns false for a val here, the standard library, and what is not known", () => {
    expect(isRemoteImport(val, fetching, new Set([val]))).toBe(false)
    expect(isRemoteImport(val, fetching)).toBe(false)
    expect(isRemoteImport("https://esm.town/v/std/blob", fetching, new Set())).toBe(false)
    expect(isRemoteImport(val, hosts, new Set())).toBe(false)
  })
})

describe("listRemoteImports", () => {
  test("leaves out other imports, and finds the JSX import source", () => {
    const code = "/** @jsxImportSource npm:preact@10 */\nexport default <p />"
    expect(listRemoteImports(code, ["./x", "npm:a", "node:fs", "npm:b"], hosts)).toEqual([
      "npm:a",
      "npm:b",
      "npm:preact@10/jsx-runtime",
    ])
    expect(listRemoteImports("/* @jsxImportSource https://esm.sh/react*/", [], hosts)).toEqual([
      "https://esm.sh/react/jsx-runtime",
    ])
    expect(
      listRemoteImports("/** @jsxImportSource https://esm.town/v/ada/view */", [], hosts),
    ).toEqual([])
    expect(hasRemoteImports("1", ["./x"], hosts)).toBe(false)
  })
})

describe("mayImportRemote", () => {
  const sources: readonly (readonly [string, boolean])[] = [
    [`import "npm:zod"`, true],
    ["import('jsr:@std/x')", true],
    ["await import(` https://x`)", true],
    ["/** @jsxImportSource npm:preact */", true],
    [`import fs from "node:fs"; import x from "./y" // see https://example.com`, false],
    ["export default 1", false],
  ]
  test.each(sources)("for %s returns %p", (code, expected) => {
    expect(mayImportRemote(code)).toBe(expected)
    // The quick check for any imports must not miss one.
    if (expected) expect(mayImport(code)).toBe(true)
  })
})
