import { describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { toJavaScript } from "./to-javascript.ts"

/** Without the printer's spacing, which is no promise. */
const squeeze = (code: string) => code.replace(/\s+/g, " ").trim()

describe("toJavaScript", () => {
  const sources: [title: string, code: string, javascript: string][] = [
    [
      "removes types",
      `export const a: number = b as number; type C = string; interface D {}`,
      `export const a = b;`,
    ],
    [
      "keeps specifiers",
      `import a from "./a"; import b from "npm:b@1"; import c from "https://esm.town/v/x/y"; a(b, c)`,
      `import a from "./a"; import b from "npm:b@1"; import c from "https://esm.town/v/x/y"; a(b, c);`,
    ],
    ["keeps imports for their effects", `import "x"`, `import"x";`],
    [
      "removes imports of types",
      `import type A from "a"; import { type B } from "b"; import { C, d } from "c"; let e: C = d`,
      `import { d } from "c"; let e = d;`,
    ],
    [
      "keeps re-exports",
      `export * from "a"; export { b } from "b"; import { c } from "c"; export { c }`,
      `export * from "a"; export { b } from "b"; import { c } from "c"; export { c };`,
    ],
    [
      "keeps import attributes",
      `import a from "./a.json" with { type: "json" }; a`,
      `import a from "./a.json" with { type: "json" }; a;`,
    ],
    [
      "keeps using",
      `using a = b(); export default function c() {}`,
      `using a = b(); export default function c() {}`,
    ],
    [
      "keeps top-level await and dynamic imports",
      `export const a = await import("x")`,
      `export const a = await import("x");`,
    ],
    ["keeps code that never runs", `if (false) import("x")`, `if (!1) import("x");`],
    ["takes casts with angle brackets", `export const a = <string>b`, `export const a = b;`],
    [
      "turns enums into objects",
      `export enum A { b = 1 }`,
      `export var A; ((A) => A[A.b = 1] = "b")(A ||= {});`,
    ],
    ["drops a hash-bang line", `#!/usr/bin/env deno\na()`, `a();`],
    ["has no main module", `if (import.meta.main) a()`, `if (!1) a();`],
    ["is made for production", `process.env.NODE_ENV`, `"production";`],
    [
      "does not read our environment",
      `process.env.PATH; import.meta.env.PATH`,
      `process.env.PATH; import.meta.env.PATH;`,
    ],
    [
      "has classic JSX without a pragma",
      `export const a = <><p id="1">b</p></>`,
      `export const a = React.createElement(React.Fragment, null, React.createElement("p", { id: "1" }, "b"));`,
    ],
    [
      "counts the JSX factory as used",
      `import React from "https://esm.sh/react"; export const a = <p/>`,
      `import React from "https://esm.sh/react"; export const a = React.createElement("p", null);`,
    ],
    [
      "honours @jsx and @jsxFrag",
      `/** @jsx h */ /** @jsxFrag F */ import { h, F } from "x"; export const a = <><p/></>`,
      `import { h, F } from "x"; export const a = h(F, null, h("p", null));`,
    ],
  ]
  test.each(sources)("%s", (_title, code, javascript) => {
    const answer = toJavaScript(code)
    expect(answer).toMatchObject({ kind: "javascript" })
    expect(squeeze(answer.kind === "javascript" ? answer.code : "")).toBe(javascript)
  })

  test("uses @jsxImportSource, for production", () => {
    const answer = toJavaScript(
      `/** @jsxImportSource https://esm.sh/preact */\nexport const a = <p {...b} key="1"><i/></p>, c = <i/>`,
    )
    const code = answer.kind === "javascript" ? answer.code : ""
    expect(code).toContain(`from "https://esm.sh/preact/jsx-runtime"`)
    expect(code).toContain(`from "https://esm.sh/preact"`)
    expect(code).not.toContain("jsxDEV")
  })

  const refused: [title: string, code: string, message: string][] = [
    ["broken code, with the line", "const a = 1\nconst b = = 2", "Unexpected = (line 2)"],
    [
      "several mistakes, with the first",
      "let a\nlet a; let a",
      `"a" has already been declared (line 2)`,
    ],
    ["broken JSX", "\n\nconst a = <p>", "Unexpected end of file (line 3)"],
    [
      "a mistake after a cast with angle brackets",
      "const a = <string>b\nconst c = = 1",
      "Unexpected = (line 2)",
    ],
    [
      "decorators",
      "@a class B {}",
      "decorators and accessor fields are not supported in modules for browsers",
    ],
    [
      "accessor fields",
      "class A { accessor b = 1 }",
      "decorators and accessor fields are not supported in modules for browsers",
    ],
    [
      "macros",
      `\nimport { a } from "x" with { type: "macro" }\na()`,
      "Macros are disabled (line 3)",
    ],
  ]
  test.each(refused)("refuses %s", (_title, code, message) => {
    expect(toJavaScript(code)).toEqual({ kind: "refused", message })
  })

  test("accepts a string that looks like the import of a helper", () => {
    expect(toJavaScript(`export const a = 'import "bun:wrap"'`)).toMatchObject({
      kind: "javascript",
    })
  })

  const spellings = [
    `"node:fs" with { type: "macro" }`,
    `"node:fs" with { "type": "m\\u0061cro" }`,
    `"node:fs" assert { type: "macro" }`,
    `"macro:node:fs"`,
    `"macro:fs"`,
  ]
  test.each(spellings)("does not run macros: from %s", (spelling) => {
    const path = join(tmpdir(), `macro-${crypto.randomUUID()}`)
    const call = `writeFileSync(${JSON.stringify(path)}, "x")`
    expect(toJavaScript(`import { writeFileSync } from ${spelling}\n${call}`)).toMatchObject({
      kind: "refused",
    })
    expect(
      toJavaScript(`import { writeFileSync } from ${spelling}\nconst a = <any>b; ${call}`),
    ).toMatchObject({ kind: "refused" })
    expect(existsSync(path)).toBe(false)
  })
})
