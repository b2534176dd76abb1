import { describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { scanImports } from "./scan-imports.ts"

describe("scanImports", () => {
  const sources: [title: string, code: string, specifiers: string[]][] = [
    ["nothing", "", []],
    ["a default import", `import a from "x"`, ["x"]],
    [
      "every form of static import",
      `import a, { b as c } from "x"; import * as d from "y"; import "z"; import e, * as f from 'w'`,
      ["x", "y", "z", "w"],
    ],
    [
      "every form of re-export",
      `export * from "x"; export * as a from "y"; export { b, default } from "z"; export { c as "d e" } from "w"`,
      ["x", "y", "z", "w"],
    ],
    [
      "dynamic imports",
      `await import("x"); import('y').then(); const f = () => import(\`z\`)`,
      ["x", "y", "z"],
    ],
    ["each specifier once", `import "x"; import("x"); export * from "x"`, ["x"]],
    ["imports that nothing uses", `import { unused } from "x"`, ["x"]],
    [
      "imports where control never gets",
      `if (false) import("x"); function never() { return import("y") }`,
      ["x", "y"],
    ],
    [
      "no type imports",
      `import type { A } from "x"; export type { B } from "y"; export type * from "z"; let a: import("w").C`,
      [],
    ],
    ["a mixed import", `import { type A, b } from "x"`, ["x"]],
    ["no computed specifiers", `import("x" + y); import(z); import(\`\${w}\`)`, []],
    ["no calls of require", `require("x"); require.resolve("y")`, []],
    [
      "no JSX runtime",
      `/** @jsxImportSource https://esm.sh/preact */ import { a } from "x"; export default () => <p>{a}</p>`,
      ["x"],
    ],
    [
      "no words in comments",
      `/* import "a" */ // import "b"\n/** export * from "c" */ import "x"`,
      ["x"],
    ],
    [
      "no words in strings",
      `const a = "import 'a'", b = 'export * from "b"', c = "\\"; import 'c'"; import "x"`,
      ["x"],
    ],
    [
      "no words in templates, but in their holes",
      `const a = \`import "a" \${await import("x")} \${\`import "b"\`}\``,
      ["x"],
    ],
    [
      "no words in regular expressions",
      `const a = /import "a"/, b = 4 / 2 / 1, c = /[/]import("b")/; import "x"`,
      ["x"],
    ],
    [
      "no words in JSX text, but in its holes",
      `const a = <p title='import "a"'>import x from "b" {import("x")} from "c"</p>`,
      ["x"],
    ],
    ["no import.meta", `import.meta.url; import.meta.resolve("a"); import "x"`, ["x"]],
    [
      "escaped specifiers",
      `import "\\x78"; import "https:\\u002f\\u002fesm.town/v/a/b"; import("y\\\nz")`,
      ["x", "https://esm.town/v/a/b", "yz"],
    ],
    ["specifiers with other letters", `import "./é"; import "./😀"`, ["./é", "./😀"]],
    [
      "import attributes",
      `import a from "x" with { type: "json" }; import b from "y" assert { type: "json" }; import("z", { with: { type: "json" } })`,
      ["x", "y", "z"],
    ],
    ["a hash-bang line", `#!/usr/bin/env -S deno run\nimport "x"`, ["x"]],
    ["a byte order mark", `\uFEFFimport "x"`, ["x"]],
    ["Windows line ends", `import "x"\r\nimport "y"\r\n`, ["x", "y"]],
    [
      "top-level await",
      `import "x"; const a = await fetch("y"); for await (const b of a) {}`,
      ["x"],
    ],
    [
      "generics",
      `import "x"; const f = <T,>(a: T) => a, g = <const T extends object>(a: T): a is T => true; f<string>("y")`,
      ["x"],
    ],
    [
      "casts with angle brackets",
      `import "x"; const a = <string>b; for (const k in <any>o) {}`,
      ["x"],
    ],
    [
      "enums, namespaces, abstract classes",
      `import "x"; enum A { b = 1 } const enum C { d } namespace E { export const f = 1 } abstract class G { abstract h(): void }`,
      ["x"],
    ],
    [
      "satisfies, as, non-null",
      `import a from "x"; export default { b: a! as unknown } satisfies C as const`,
      ["x"],
    ],
    [
      "decorators",
      `import { d } from "x"; @d() export class A { @d accessor b = 1; @d() c(@d e: string) {} }`,
      ["x"],
    ],
    [
      "standard decorators",
      `import { d } from "x"; @d export class A { @d b = 1; @d() c() {} }`,
      ["x"],
    ],
    ["accessor fields", `import "x"; class A { accessor b = 1; static accessor c }`, ["x"]],
    ["accessor fields beside JSX", `import "x"; class A { accessor b = <p>c</p> }`, ["x"]],
    ["accessor fields beside casts", `import "x"; class A { accessor b = <any>c }`, ["x"]],
    ["a macro beside casts", `import { a } from "x" with { type: "macro" }; a(<any>b)`, ["x"]],
    ["using", `import "x"; using a = b(); { await using c = d() }`, ["x"]],
    ["a key after a spread in JSX", `import "x"; const a = <p {...b} key="1" />`, ["x"]],
    ["import equals", `import a = require("y"); import b = A.B; import "x"`, ["x"]],
    ["import defer", `import defer * as a from "x"`, ["x"]],
    [
      "a macro, which stays what it says",
      `import { a } from "x" with { type: "macro" }; a()`,
      ["x"],
    ],
    ["broken code", `import "x"; const = 1`, []],
    ["an unfinished string", `import "x`, []],
    ["prose", `I import goods from France`, []],
  ]
  test.each(sources)("finds what is there: %s", (_title, code, specifiers) => {
    expect(scanImports(code)).toEqual(specifiers)
  })

  test("finds generated imports in order", () => {
    const specifier = fc.string({ unit: "grapheme-ascii", minLength: 1 })
    let next = 0
    const forms = [
      (text: string) => `import ${text}`,
      (text: string) => `import * as a${next++} from ${text}`,
      (text: string) => `export * from ${text}`,
      (text: string) => `await import(${text})`,
      (text: string) => `{ const a = <p>{import(${text})} from</p> }`,
    ]
    const statement = fc.record({ specifier, form: fc.constantFrom(...forms) })
    fc.assert(
      fc.property(fc.array(statement), (statements) => {
        const code = statements.map((one) => one.form(JSON.stringify(one.specifier))).join("\n")
        expect(scanImports(code)).toEqual([...new Set(statements.map((one) => one.specifier))])
      }),
    )
  })

  test("never throws", () => {
    const token = fc.constantFrom(
      "import",
      "from",
      "export",
      "*",
      "{",
      "}",
      "(",
      ")",
      "<",
      ">",
      '"x"',
      "'",
      "`",
      "${",
      "/",
      "=>",
      "a",
      ":",
      "?",
      ";",
      "\n",
      "@",
      "type",
      "as",
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(token).map((tokens) => tokens.join(" ")),
        ),
        (code) => {
          expect(Array.isArray(scanImports(code))).toBe(true)
        },
      ),
      { numRuns: 1000 },
    )
  })

  // The second source is one that only the full parser reads, which would run macros if it were
  // let.
  test.each(["", "class A { accessor b = 1 }"])("does not run macros %#", (rest) => {
    const path = join(tmpdir(), `macro-${crypto.randomUUID()}`)
    scanImports(
      `import { writeFileSync } from "node:fs" with { type: "macro" }; writeFileSync(${JSON.stringify(path)}, "x"); ${rest}`,
    )
    expect(existsSync(path)).toBe(false)
  })
})
