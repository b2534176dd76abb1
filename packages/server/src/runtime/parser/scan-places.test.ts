import { describe, expect, test } from "bun:test"
import { scanPlaces } from "./scan-places.ts"

/** The texts at the places. */
function read(code: string): readonly string[] | null {
  const places = scanPlaces(code)
  return places && places.map(({ start, end }) => code.slice(start, end))
}

describe("scanPlaces", () => {
  test("finds every place of every import", () => {
    const code = `import a from "x"; export * from 'x'; await import(\`y\`); import "z"`
    expect(read(code)).toEqual([`"x"`, `'x'`, "`y`", `"z"`])
    expect(scanPlaces(code)?.map(({ specifier }) => specifier)).toEqual(["x", "x", "y", "z"])
  })

  test("finds no places in strings, comments and types", () => {
    const code = `// import "npm:a" isn't one
      import a from "npm:a" // "npm:a"
      import type { B } from "npm:a"
      const text = 'import b from "npm:a"', other = \`from "npm:a"\`
      export default ["npm:a", text, other]`
    expect(scanPlaces(code)).toEqual([
      { specifier: "npm:a", start: code.indexOf(`"npm:a" // `), end: code.indexOf(" // ") },
    ])
  })

  test("knows the end of attributes", () => {
    const code = `import a from "./a.json" with { type: "json" }; import("b", { with: { type: "json" } })`
    expect(scanPlaces(code)?.map((one) => code.slice(one.end, one.clauseEnd))).toEqual([
      ` with { type: "json" }`,
      `, { with: { type: "json" } }`,
    ])
  })

  test("finds the source of JSX in the comments before the code only", () => {
    const comment = "/** @jsxImportSource npm:preact@10 */\n"
    expect(read(`${comment}export default <p />`)).toEqual(["npm:preact@10"])
    expect(scanPlaces(comment)?.[0]?.specifier).toBe("npm:preact@10/jsx-runtime")
    expect(read(`export default ${comment}<p />`)).toEqual([])
  })

  test("says that it does not know the place of a specifier with escapes", () => {
    expect(scanPlaces(`import "\\x61bc"; import "d"`)).toBeNull()
  })

  test("is not confused by quotes without a partner, markers and literals in a row", () => {
    expect(read(`// don"t\nimport "x"`)).toEqual([`"x"`])
    expect(read(`"hamlet-import-0/"; import "hamlet-import-0/"; import "x"`)).toEqual([
      `"hamlet-import-0/"`,
      `"x"`,
    ])
    expect(read(`import "x";"x";import "x"`)).toEqual([`"x"`, `"x"`])
    expect(read("import {")).toEqual([])
  })

  test("gives up where there are too many", () => {
    expect(scanPlaces(`import "x";`.repeat(1_001))).toBeNull()
  })
})
