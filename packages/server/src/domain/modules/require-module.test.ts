import { expect, test } from "bun:test"
import { linkRequire } from "./require-module.ts"

const base = "https://vals.example"
const url = "https://vals.example/v/ada/x@1"

test("linkRequire replaces node:module in the imports of modules that mention createRequire", () => {
  const code = `import { createRequire } from "node:module"; import module from 'module'
const later = await import("node:module"); import x from "npm:module"; const y = "module"`
  const [linked, added] = linkRequire([{ url, code }], base)
  expect(
    linked?.code,
  ).toBe(`import { createRequire } from "https://vals.example/packages/node/module"; import module from "https://vals.example/packages/node/module"
const later = await import("https://vals.example/packages/node/module"); import x from "npm:module"; const y = "module"`)
  expect(added).toEqual({
    url: "https://vals.example/packages/node/module",
    code: expect.stringContaining('export * from "node:module"'),
    type: "js",
  })
})

test("linkRequire leaves other modules alone", () => {
  const modules = [{ url, code: 'import { isBuiltin } from "node:module"' }]
  expect(linkRequire(modules, base)).toEqual(modules)
})

// A pattern that tries every way to divide the spaces would take hours.
test("linkRequire reads code with many spaces", () => {
  const code = `// createRequire import${" ".repeat(1_000_000)}x`
  expect(linkRequire([{ url, code }], base)[0]?.code).toBe(code)
})
