import { describe, expect, test } from "bun:test"
import { withTempTree } from "../temp-tree.ts"
import { checkImports } from "./check-imports.ts"

const src = "packages/server/src"
/**
 * Not spelt out in the code below: the rule searches templates too, and would take it for an import
 * of this file.
 */
const serverPackage = "@hamlet/server"
const kit = "@hamlet/kit"

/** A tree in which every arrow of the drawing is used once. */
const clean = {
  "packages/contract/package.json": `{ "name": "@hamlet/contract", "exports": { ".": "./src/index.ts", "./client": "./src/client.ts" } }`,
  "packages/contract/src/index.ts": `export * from "./errors.ts"`,
  "packages/contract/src/errors.ts": `export type Code = "a"`,
  "packages/contract/src/client.ts": `import type { Code } from "./index.ts"`,
  "packages/kit/package.json": `{ "name": "@hamlet/kit", "exports": { ".": "./src/index.ts", "./testing": "./src/testing/index.ts" } }`,
  "packages/kit/src/index.ts": `export { Loop } from "./time/loop.ts"`,
  "packages/kit/src/time/loop.ts": "export const Loop = 1",
  "packages/kit/src/time/loop.test.ts": `import { Loop } from "./loop.ts"\nimport { wait } from "../testing/index.ts"`,
  "packages/kit/src/testing/index.ts": `export const wait = 1`,
  [`${src}/jobs/sweep.ts`]: `import { Loop } from "${kit}"`,
  [`${src}/jobs/sweep.test.ts`]: `import { wait } from "${kit}/testing"`,
  "packages/server/test/sweep.test.ts": `import { wait } from "${kit}/testing"`,
  "bench/sweep.ts": `import { wait } from "${kit}/testing"`,
  "packages/server/package.json": `{ "name": "@hamlet/server" }`,
  [`${src}/main.ts`]: `import { config } from "./config/config.ts"`,
  [`${src}/compose.ts`]: `import { app } from "./http/app.ts"\nimport "./storage/vals.ts"`,
  [`${src}/config/config.ts`]: `import type { Code } from "@hamlet/contract"`,
  [`${src}/http/app.ts`]: `import { save } from "../domain/vals.ts"\nimport { x } from "./routes/vals.ts"\nimport { Hono } from "hono"`,
  [`${src}/http/routes/vals.ts`]: `import { save } from "../../domain/vals.ts"`,
  [`${src}/storage/vals.ts`]: `import type { Vals } from "../domain/vals.ts"`,
  [`${src}/storage/vals.test.ts`]: `import { app } from "../http/app.ts"\nimport { test } from "bun:test"`,
  [`${src}/storage/testing/fake.ts`]: `import { app } from "../../http/app.ts"`,
  [`${src}/domain/vals.ts`]: `import type { Code } from "@hamlet/contract"\nexport const save = 1`,
  "packages/server/test/api.test.ts": `import { app } from "../src/http/app.ts"\nimport { client } from "@hamlet/contract/client"`,
  "packages/web/src/main.tsx": `import { client } from "@hamlet/contract/client"\nexport const view = <p>Don't</p>`,
}

function check(files: Record<string, string>): Promise<string[]> {
  return withTempTree({ ...clean, ...files }, checkImports)
}

describe("checkImports", () => {
  test("accepts a tree that follows the drawing", async () => {
    expect(await check({})).toEqual([])
  })

  const forms = {
    "an import": `import { vals } from "../storage/vals.ts"\nvals()`,
    "an import of a type": `import type { Vals } from "../storage/vals.ts"`,
    "an import of a type among values": `import { type Vals } from "../storage/vals.ts"`,
    "an import over several lines": `import {\n  vals,\n  type Vals,\n} from "../storage/vals.ts"`,
    "an import for its effect": `import "../storage/vals.ts"`,
    "an export from": `export { vals } from "../storage/vals.ts"`,
    "an export of everything": `export * from "../storage/vals.ts"`,
    "an export of a type": `export type { Vals } from "../storage/vals.ts"`,
    "a dynamic import": `const vals = await import("../storage/vals.ts")`,
    "a dynamic import in a template": "const text = `${(await import('../storage/vals.ts')).name}`",
    "the type of an import": `type Vals = import("../storage/vals.ts").Vals`,
    "a require": `const vals = require("../storage/vals.ts")`,
    "an import without the extension": `import type { Vals } from "../storage/vals"`,
    "an import by the name of the package": `import type { Vals } from "${serverPackage}/src/storage/vals.ts"`,
    "an import after things that look like comments": `const glob = \`\${a}/*\`, url = "http://x/*"\nimport type { V } from "../storage/vals.ts"`,
  }
  for (const [form, code] of Object.entries(forms)) {
    test(`refuses ${form} from one layer to another`, async () => {
      expect(await check({ [`${src}/http/bad.ts`]: code })).toEqual([
        `${src}/http/bad.ts: cannot import ${src}/storage/vals.ts: http may import contract, domain, shared, http1, kit, npm, owner-databases, page, sandbox, not storage`,
      ])
    })
  }

  test("does not take comments and strings for imports", async () => {
    const code = `// import "../storage/vals.ts"\n/* import("../storage/vals.ts") */\nexport const text = 'import "../storage/vals.ts"'\n`
    expect(await check({ [`${src}/http/fine.ts`]: code })).toEqual([])
  })

  const refused: Record<string, [importer: string, target: string]> = {
    "the domain from importing a layer": [`${src}/domain/bad.ts`, `${src}/storage/vals.ts`],
    "the domain from importing the configuration": [
      `${src}/domain/bad.ts`,
      `${src}/config/config.ts`,
    ],
    "a layer from importing the configuration": [
      `${src}/gateway/bad.ts`,
      `${src}/config/config.ts`,
    ],
    "a layer from importing the composition root": [`${src}/runtime/bad.ts`, `${src}/main.ts`],
    "the configuration from importing the domain": [
      `${src}/config/config.ts`,
      `${src}/domain/vals.ts`,
    ],
    "the contract from importing the server": [
      "packages/contract/src/bad.ts",
      `${src}/domain/vals.ts`,
    ],
    "the web app from importing the server": ["packages/web/src/bad.ts", `${src}/domain/vals.ts`],
    "the guest from importing the contract": [
      "packages/guest/src/bad.ts",
      "packages/contract/src/index.ts",
    ],
    "code from importing a test": [`${src}/storage/bad.ts`, `${src}/storage/vals.test.ts`],
    "code from importing what only tests share": [
      `${src}/storage/bad.ts`,
      `${src}/storage/testing/fake.ts`,
    ],
    "a test from importing another package": [
      "packages/web/test/bad.test.ts",
      `${src}/domain/vals.ts`,
    ],
  }
  for (const [title, [importer, target]] of Object.entries(refused)) {
    test(`keeps ${title}`, async () => {
      const climb = importer
        .split("/")
        .slice(1)
        .map(() => "..")
        .join("/")
      const problems = await check({ [importer]: `import type { X } from "${climb}/${target}"` })
      expect(problems).toHaveLength(1)
      expect(problems[0]).toStartWith(`${importer}: cannot import ${target}: `)
    })
  }

  test("keeps the web app from importing the server by its package name", async () => {
    const problems = await check({
      "packages/web/src/bad.ts": `import type { save } from "${serverPackage}/src/domain/vals.ts"`,
    })
    expect(problems).toEqual([
      `packages/web/src/bad.ts: cannot import ${src}/domain/vals.ts: web may import contract, find-deno, not domain`,
    ])
  })

  describe("a package with walls", () => {
    const loop = "packages/kit/src/time/loop.ts"
    const testing = "packages/kit/src/testing/index.ts"
    const instead = `cannot import ${loop}: import "${kit}" instead, and export there what is missing`
    const refusals: readonly (readonly [importer: string, code: string, problem: string])[] = [
      [`${src}/jobs/bad.ts`, `import { Loop } from "../../../kit/src/time/loop.ts"`, instead],
      [`${src}/jobs/bad.ts`, `import { Loop } from "${kit}/src/time/loop.ts"`, instead],
      [`${src}/jobs/bad.test.ts`, `import { Loop } from "${kit}/src/time/loop.ts"`, instead],
      ["bench/bad.ts", `import { Loop } from "${kit}/src/time/loop.ts"`, instead],
      [
        `${src}/jobs/bad.ts`,
        `import { wait } from "${kit}/testing"`,
        `cannot import ${testing}: that is part of the tests`,
      ],
      [
        "packages/kit/src/bad.ts",
        `import { save } from "../../server/src/domain/vals.ts"`,
        `cannot import ${src}/domain/vals.ts: kit may import nothing of ours, not domain`,
      ],
      [
        "packages/kit/src/bad.test.ts",
        `import { save } from "../../server/src/domain/vals.ts"`,
        `cannot import ${src}/domain/vals.ts: a test may import its own package and the contract`,
      ],
    ]
    test.each(refusals)("keeps %s from %s", async (importer, code, problem) => {
      expect(await check({ [importer]: code })).toEqual([`${importer}: ${problem}`])
    })
  })

  test("lets benchmarks import what tests share, and nothing else of them", async () => {
    const support = "packages/server/test/support/fake.ts"
    const problems = await check({
      [support]: "export const fake = 1",
      "packages/server/test/other.test.ts": "",
      "bench/fine.ts": `import "../${support}"`,
      "bench/bad.ts": `import "../packages/server/test/other.test.ts"`,
      [`${src}/domain/bad.ts`]: `import "../../test/support/fake.ts"`,
    })
    expect(problems).toEqual([
      "bench/bad.ts: cannot import packages/server/test/other.test.ts: that is part of the tests",
      `${src}/domain/bad.ts: cannot import ${support}: that is part of the tests`,
    ])
  })

  test("refuses a cycle between files, also one of types only", async () => {
    const problems = await check({
      [`${src}/domain/a.ts`]: `import type { B } from "./b.ts"`,
      [`${src}/domain/b.ts`]: `export type { C } from "./c.ts"`,
      [`${src}/domain/c.ts`]: `export const a = () => import("./a.ts")`,
    })
    expect(problems).toEqual([
      `${src}/domain/a.ts: is in an import cycle: ${["a", "b", "c", "a"].map((name) => `${src}/domain/${name}.ts`).join(" → ")}`,
    ])
  })

  test("refuses a folder or a file called utils", async () => {
    const problems = await check({
      [`${src}/domain/utils/text.ts`]: "",
      "packages/web/src/utils.ts": "",
    })
    expect(problems).toEqual(
      [
        `${src}/domain/utils/text.ts: utils is not a name: call it after what it does`,
        "packages/web/src/utils.ts: utils is not a name: call it after what it does",
      ].sort(),
    )
  })

  test("refuses a source file that is in no area", async () => {
    expect(await check({ [`${src}/misc/x.ts`]: "" })).toEqual([
      `${src}/misc/x.ts: is in no area of scripts/imports/areas.ts`,
    ])
  })
})
