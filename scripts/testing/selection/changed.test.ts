import { describe, expect, test } from "bun:test"
import { withTempTree } from "../../temp-tree.ts"
import { findAffectedTests } from "./changed.ts"

/** In two parts: `--changed` would take a whole name for a path of this repository. */
const folder = "packages"
const manifest = (name: string) =>
  `{ "name": "@hamlet/${name}", "exports": { ".": "./src/index.ts", "./main": "./src/main.ts" } }`
const tree = {
  [`${folder}/a/package.json`]: manifest("a"),
  [`${folder}/a/src/main.ts`]: `import "./part.ts"`,
  [`${folder}/a/src/part.ts`]: `export type Part = string`,
  [`${folder}/a/src/part.test.ts`]: `import type { Part } from "./part.ts"`,
  [`${folder}/a/src/other.test.ts`]: `import { test } from "bun:test"`,
  [`${folder}/a/src/look.css`]: `body {}`,
  [`${folder}/b/bin/run`]: `exec bun "$root/${folder}/b/src/start.ts"`,
  [`${folder}/b/package.json`]: manifest("b"),
  [`${folder}/b/src/start.ts`]: `const guest = import.meta.resolve("@hamlet/a/main")`,
  [`${folder}/b/test/started.test.ts`]: `const program = new URL("../bin/run", import.meta.url)`,
  [`${folder}/walls/package.json`]: manifest("walls"),
  [`${folder}/walls/src/index.ts`]: `export { inner } from "./inner.ts"`,
  [`${folder}/walls/src/inner.ts`]: `/**\n * \`docs/manual.md\` describes it.\n */\nexport const inner = 1`,
  [`${folder}/d/src/user.ts`]: `import { inner } from "@hamlet/walls"`,
  [`${folder}/d/src/user.test.ts`]: `import "./user.ts"`,
  [`${folder}/c/src/manual.test.ts`]: `const manual = join(root, "docs", "manual.md")`,
  "docs/manual.md": "",
  "package.json": "{}",
  "scripts/none.mjs": "",
}
const find = (...changed: string[]) =>
  withTempTree(tree, (root) =>
    findAffectedTests(root, changed).map((path) => path.slice(path.lastIndexOf("/") + 1)),
  )

describe("findAffectedTests", () => {
  test("follows imports, names of packages and paths of programs", async () => {
    expect(await find(`${folder}/a/src/part.ts`)).toEqual(["part.test.ts", "started.test.ts"])
    expect(await find(`${folder}/b/src/start.ts`)).toEqual(["started.test.ts"])
  })

  test("selects the tests of packages that import a changed file by the index", async () => {
    expect(await find(`${folder}/walls/src/inner.ts`)).toEqual(["user.test.ts"])
  })

  test("takes no path in a comment for a use", async () => {
    expect(await find("docs/manual.md")).toEqual(["manual.test.ts"])
  })

  test("finds a test that has changed, and one that reads a document", async () => {
    expect(await find(`${folder}/a/src/other.test.ts`)).toEqual(["other.test.ts"])
    expect(await find("docs/manual.md")).toContain("manual.test.ts")
  })

  test("takes a file that nothing names for a change of its whole package", async () => {
    const all = ["other.test.ts", "part.test.ts", "started.test.ts"]
    expect(await find(`${folder}/a/src/look.css`)).toEqual(all)
  })

  test("runs everything when the packages change, and nothing for a deleted file", async () => {
    expect(await find("package.json")).toHaveLength(5)
    expect(await find(`${folder}/a/src/gone.ts`)).toEqual([])
  })
})
