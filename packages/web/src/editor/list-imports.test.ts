import { expect, test } from "bun:test"
import { listImports } from "./list-imports.ts"

test("listImports finds what is loaded at run time, and no other texts", () => {
  const code = `import a, { b } from "/v/ada/one"
import type { T } from "/v/ada/type"
import '/v/ada/two'
export * from "/v/ada/three"
export { y } from "/v/ada/four"
export type { Q } from "/v/ada/type"
const z = await import("/v/ada/five")
// import "/v/ada/comment"
const text = "/v/ada/text", called = call("/v/ada/text", \`import "/v/ada/text"\`)
export const other = "/v/ada/text"
export default "/v/ada/text"
`
  const names = ["one", "two", "three", "four", "five"]
  expect(listImports(code)).toEqual(names.map((name) => `/v/ada/${name}`))
})
