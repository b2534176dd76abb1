import { describe, expect, test } from "bun:test"
import type { Resolution } from "../modules/lockfiles.ts"
import { toTextHash } from "../modules/text-hash.ts"
import { moveResolution, rewriteRelativeImports } from "./relative-imports.ts"
import type { CodeParser } from "./val-source.ts"

const sources = {
  importHosts: { baseUrls: ["http://hamlet.test"] },
  parser: {
    /** Stands for the parser: an import is at the beginning of a line. */
    scanImports: async (code: string) =>
      Array.from(code.matchAll(/^import ["']([^"']*)["']/gm), ([, specifier = ""]) => specifier),
  } as unknown as CodeParser,
}
const rewrite = (code: string) =>
  rewriteRelativeImports(sources, { code, name: "main", ownerName: "Ada" }, "bob")

describe("rewriteRelativeImports", () => {
  test("names the owner in relative imports of vals, and changes nothing else", async () => {
    const { code, renamed } = await rewrite(
      [
        `import "./lib"`,
        `import './lib@3'`,
        `text('import "./lib"')`,
        `import "./folder/file"`,
        `import "../carol/lib"`,
        `import "npm:zod"`,
      ].join("\n"),
    )
    expect(code).toBe(
      [
        `import "../Ada/lib"`,
        `import '../Ada/lib@3'`,
        `text('import "./lib"')`,
        `import "./folder/file"`,
        `import "../carol/lib"`,
        `import "npm:zod"`,
      ].join("\n"),
    )
    expect([...renamed]).toEqual([
      ["./lib", "../Ada/lib"],
      ["./lib@3", "../Ada/lib@3"],
    ])
  })

  test("works for code that contains the marker", async () => {
    const { code } = await rewrite(`import "./lib"\n// hamlet-import-0/lib`)
    expect(code).toBe(`import "../Ada/lib"\n// hamlet-import-0/lib`)
  })

  test("refuses code that becomes too long", async () => {
    const code = `import "./lib"\n${"x".repeat(255_982)}`
    expect(await rewrite(code).catch(({ code }) => code)).toBe("invalid_request")
  })
})

describe("moveResolution", () => {
  test("moves the places of packages by what was inserted before them", async () => {
    const before = `import "npm:a"\nimport "./x"\nimport "npm:b"\nimport "./y"\nimport "npm:a"`
    const places = (code: string, specifier: string) =>
      Array.from(code.matchAll(new RegExp(`"${specifier}"`, "g")), ({ index, 0: found }) => ({
        text: toTextHash(code),
        start: index,
        end: index + found.length,
      }))
    const other = { text: "of another file", start: 40, end: 50 }
    const toResolution = (code: string): Resolution => ({
      bundle: null,
      imports: ["npm:a", "npm:b"].map((specifier, entry) => ({
        specifier,
        resolved: specifier,
        error: null,
        entry,
        exports: [],
        places: [...places(code, specifier), other],
      })),
    })
    const { code, edits } = await rewrite(before)
    expect(edits).toHaveLength(2)
    expect(moveResolution(toResolution(before), before, edits)).toEqual(toResolution(code))
    expect(moveResolution(toResolution(before), before, [])).toEqual(toResolution(before))
  })
})
