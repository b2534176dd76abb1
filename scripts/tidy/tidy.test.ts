import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { withTempTree } from "../temp-tree.ts"
import { tidy } from "./tidy.ts"

const migrations = "packages/server/src/storage/migrations"

const clean = {
  "package.json": `{ "devDependencies": { "knip": "6.44.1" } }`,
  "README.md":
    "[errors](docs/errors.md#errors), [site](https://example.com), `[code](nowhere.md)`\n\n```\n[code](nowhere.md)\n```\n",
  "docs/errors.md": toDocument(
    "error codes",
    "| code | status | retry | meaning |\n|---|---|---|---|\n| `gone` | 404 |  | It is gone. |",
  ),
  "docs/configuration.md": toDocument(
    "options",
    "| variable | flag | default | meaning |\n|---|---|---|---|\n| `HAMLET_DATA_DIR` | `--data-dir` | `./data` | Where data is kept. |",
  ),
  "docs/cli.md": toDocument("exit codes", "| exit code | meaning |\n|---|---|\n| 0 | It worked. |"),
  "packages/cli/src/exit-codes.ts": `export const exitCodes = { ok: { exit: 0, meaning: "It worked." } }`,
  "packages/contract/src/errors.ts": `export const errorCodes = { gone: { status: 404, meaning: "It is gone." } }`,
  "packages/server/src/config/options.ts": `export const options = [{ env: "HAMLET_DATA_DIR", default: "./data", meaning: "Where data is kept." }]`,
  [`${migrations}/index.ts`]: "",
  [`${migrations}/0029-files.ts`]: "",
  [`${migrations}/0030-likes.ts`]: "",
}

function toDocument(name: string, table: string): string {
  return `# Errors\n\n<!-- ${name}: made from the code, do not edit -->\n\n${table}\n\n<!-- end of ${name} -->\n`
}

function check(files: Record<string, string>): Promise<string[]> {
  return withTempTree({ ...clean, ...files }, (root) => tidy(root, false))
}

describe("tidy", () => {
  test("accepts a tidy tree", async () => {
    expect(await check({})).toEqual([])
  })

  test("refuses an error code without a row, and a row without its error code", async () => {
    const problem =
      "docs/errors.md: is not what packages/contract/src/errors.ts says; npm run check -- --fix writes it"
    const more = `export const errorCodes = { gone: { status: 404, meaning: "It is gone." }, lost: { status: 404, meaning: "Lost." } }`
    expect(await check({ "packages/contract/src/errors.ts": more })).toEqual([problem])
    expect(
      await check({ "packages/contract/src/errors.ts": "export const errorCodes = {}" }),
    ).toEqual([problem])
  })

  test("refuses an option without a row", async () => {
    const more = `export const options = { port: { env: "HAMLET_PORT", default: 8080, meaning: "The port." } }`
    expect(await check({ "packages/server/src/config/options.ts": more })).toEqual([
      "docs/configuration.md: is not what packages/server/src/config/options.ts says; npm run check -- --fix writes it",
    ])
  })

  test("refuses functions that multiply their input, on the main thread", async () => {
    const path = "packages/server/src/gateway/gateway.ts"
    const found = async (code: string, at = path) =>
      (await check({ [at]: code })).map((problem) => problem.replace(/;.*/, ""))
    const refusal = (name: string) => [`${path}:2: calls ${name} on the main thread`]
    for (const [name, code] of [
      ["JSON.parse", "const it = JSON.parse(text)"],
      ["JSON.stringify", "const it = values.map(JSON.stringify)"],
      ["decodeURIComponent", "const it = decodeURI(text)"],
      ["RegExp", "const it = new RegExp(text)"],
      ["RegExp", "const it = RegExp(`a${text}`)"],
      ["repeat", "const it = text.repeat(count)"],
      ["padStart", "const it = text.padEnd(count)"],
      ["replaceAll", "const it = text.replaceAll(searched, '')"],
      ["replaceAll", "const it = text.replaceAll(/a/g, found)"],
      ["replaceAll", 'const it = text.replaceAll("a", "aa")'],
    ] as const)
      expect(await found(`//\n${code}`)).toEqual(refusal(name))
    const harmless = `
      // JSON.parse(text) in a comment
      const patterns = [new RegExp("a+", "g"), " ".repeat(9), text.padStart(limits.digits, "0")]
      const ids = id.replaceAll("-", "").replaceAll(/[\\s"]+/g, " ").replaceAll("\\0", "\\ufffd")
      this.#client.repeat(this, request)`
    expect(await found(harmless)).toEqual([])
    const parse = "const it = JSON.parse(text)"
    expect(await found(parse, "packages/server/src/doctor/doctor.ts")).toEqual([])
    expect(await found(parse, "packages/kit/src/hostile-input/bounded.ts")).toEqual([])
    expect(await found(parse, "packages/server/src/gateway/gateway.test.ts")).toEqual([])
    expect(await found(parse, "packages/web/src/app/app.ts")).toEqual([])
  })

  test("refuses sizes of text that are not tokens", async () => {
    const style =
      ".a {\n  font-size: var(--size-sm);\n  font: var(--size-xs) / 20px var(--mono);\n  font-size: 0.9em;\n}\n"
    const path = "packages/web/src/app/styles/a.css"
    expect(await check({ [path]: style })).toEqual([])
    expect(await check({ [path]: `${style}.b {\n  font: 400 0.8rem / 1.6 serif;\n}\n` })).toEqual([
      `${path}:7: 0.8rem is not a token; use one of var(--size-…)`,
    ])
  })

  test("says what is missing when a module is not as expected", async () => {
    expect(await check({ "packages/server/src/config/options.ts": "export {}" })).toEqual([
      "packages/server/src/config/options.ts: cannot be made into docs/configuration.md: it does not export options",
    ])
  })

  test("writes the tables when told to, and leaves the text around them", async () => {
    const files = {
      ...clean,
      "docs/errors.md": toDocument("error codes", "old").replace(
        "# Errors",
        "# Errors\n\nRead me.",
      ),
    }
    await withTempTree(files, async (root) => {
      expect(await tidy(root, true)).toEqual([])
      expect(readFileSync(join(root, "docs/errors.md"), "utf8")).toBe(
        clean["docs/errors.md"].replace("# Errors", "# Errors\n\nRead me."),
      )
    })
  })

  test("refuses a client that does not know what the route table says, and writes it when told to", async () => {
    const facts = (path: string) =>
      `export const readContractFacts = () => ({ routes: { getMe: "get ${path} none json" }, errorCodes: ["gone"] })`
    const files = { ...clean, "packages/contract/src/client/contract-facts.ts": facts("/v1/me") }
    await withTempTree(files, async (root) => {
      const problem =
        "packages/contract/src/client/contract.ts: is not what the route table says; npm run check -- --fix writes it"
      expect(await tidy(root, false)).toEqual([problem])
      expect(await tidy(root, true)).toEqual([])
      expect(await tidy(root, false)).toEqual([])
      const { contract } = await import(join(root, "packages/contract/src/client/contract.ts"))
      expect(contract).toEqual({
        routes: { getMe: "get /v1/me none json" },
        errorCodes: ["gone"],
      })
    })
  })

  test("refuses links that lead nowhere", async () => {
    expect(await check({ "docs/a.md": "[x](../missing.md) and [y](errors.md#nothing)" })).toEqual([
      "docs/a.md: links to ../missing.md, which does not exist",
      "docs/a.md: links to errors.md#nothing, but there is no such heading",
    ])
  })

  test("refuses a path of one machine, but not of a web address", async () => {
    const path = ["", "home", "ada", "x"].join("/")
    expect(
      await check({
        "docs/a.md": `See\n${path}\n`,
        "docs/b.md": `See https://example.com${path}\n`,
      }),
    ).toEqual([`docs/a.md:2: names a path of one machine: ${path}`])
  })

  test("refuses a range of versions", async () => {
    expect(
      await check({ "packages/web/package.json": `{ "dependencies": { "preact": "^11.0.0" } }` }),
    ).toEqual([`packages/web/package.json: preact is "^11.0.0": write one exact version`])
  })

  test("refuses a lock file without the packages of other platforms", async () => {
    const packages = {
      "node_modules/bun": { optionalDependencies: { "bun-mac": "1.4.4", "bun-linux": "1.4.4" } },
      "node_modules/bun-linux": {},
    }
    expect(await check({ "package-lock.json": JSON.stringify({ packages }) })).toEqual([
      "package-lock.json: node_modules/bun may need what has no entry, and npm ci refuses that: bun-mac",
    ])
  })

  test("refuses a gap in the numbers of the migrations, and a number given twice", async () => {
    expect(await check({ [`${migrations}/0032-late.ts`]: "" })).toEqual([
      `${migrations}/0032-late.ts: should be number 0031`,
    ])
    expect(await check({ [`${migrations}/0030-more.ts`]: "" })).toEqual([
      `${migrations}/0030-more.ts: should be number 0031`,
    ])
  })

  test("refuses a folder with more than 15 source files, not counting tests", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 15 }, (_, index) => [`packages/cli/src/many/file-${index}.ts`, ""]),
    )
    expect(await check({ ...files, "packages/cli/src/many/file-1.test.ts": "" })).toEqual([])
    expect(await check({ ...files, "packages/cli/src/many/another.ts": "" })).toEqual([
      "packages/cli/src/many: has 16 source files, more than 15; group them by noun",
    ])
  })

  test("refuses a name that two files of one package export", async () => {
    const files = {
      "packages/cli/src/a.ts": "export interface Page {}",
      "packages/web/src/a.ts": "export class Page {}",
    }
    expect(await check(files)).toEqual([])
    expect(
      await check({ ...files, "packages/cli/src/b/c.ts": "export function Page() {}" }),
    ).toEqual([
      "packages/cli: Page is exported by packages/cli/src/a.ts and by packages/cli/src/b/c.ts: rename one",
    ])
  })

  test("accepts a name that each file of a folder exports by convention", async () => {
    const files = {
      "packages/cli/src/commands/val/list.ts": "export const command = 1",
      "packages/cli/src/commands/val/new.ts": "export const command = 2",
    }
    expect(await check(files)).toEqual([])
  })

  test("refuses vague words in comments and documents, but not in strings", async () => {
    const plain = "The process ends. ".repeat(1_000)
    const code = `const text = "nobody nobody nobody nobody"\n/** ${plain} */\n`
    expect(await check({ "packages/cli/src/a.ts": code })).toEqual([])
    const vague = `${code}// Whoever asks, somebody hears; whatever happens, nobody tells everybody.\n`
    expect((await check({ "packages/cli/src/a.ts": vague }))[0]).toStartWith(
      "Comments and documents have 1.6 vague words per 1,000, and may have 1",
    )
    expect((await check({ "docs/a.md": `${plain} ${"Nobody. ".repeat(4)}` }))[0]).toStartWith(
      "Comments and documents have 1.3 vague words per 1,000, and may have 1",
    )
  })

  test("refuses comments that mean something only after the line above", async () => {
    const path = "packages/cli/src/a.test.ts"
    const found = async (code: string) =>
      (await check({ [path]: code })).map((problem) => problem.replace(/;.*/, ""))
    // Written in two parts, so that this file does not have them itself.
    const [line, block] = ["/".repeat(2), "/".concat("**")]
    for (const start of ["Of", "The same", "Those", "It", "It's"])
      for (const code of [
        `const a = 1\n${line} ${start} all of them.`,
        `const a = 1\nconst b = 2 ${line} ${start} all of them.`,
        `const a = 1\n${block} ${start} all of them. */`,
        `const a = 1\n${block}\n * ${start} all of them.\n */`,
        `const a = 1\nconst b = {${block.slice(0, -1)} ${start} all of them. */}`,
      ])
        expect(await found(code)).toEqual([`${path}:2: a comment begins with "${start}"`])
    const harmless = `
      ${line} Its name is long, and
      ${line} It goes on in the next line. Those of a sentence too.
      ${block} Often used. It is a sentence further on. */
      const text = "It is a text" + "https:${line}Of"
      const pattern = "packages/*/It/*"`
    expect(await found(harmless)).toEqual([])
    expect(await check({ "docs/a.md": `${line} It is in a document` })).toEqual([])
  })

  test("refuses spreads of literals, but not of what is made of them", async () => {
    const path = "packages/web/test/a.test.tsx"
    const found = (code: string) => check({ [path]: code })
    // Written in two parts, so that this file does not have them itself.
    const spread = ".".repeat(3)
    for (const code of [
      `const it = {\n  ${spread}{ a, b: c },\n}`,
      `const it = {\n  ${spread}{ a: { b: "}" }, c: [1] }, d }`,
      `const it = {\n  ${spread}{\n    a,\n    b,\n  },\n}`,
      `const it = {\n  ${spread}({ a: 1 } as const) }`,
      `const it = <p\n {${spread}{ a, b }} />`,
    ])
      expect(await found(code)).toEqual([
        `${path}:2: spreads the fields of an object literal; write them without the spread`,
      ])
    for (const code of [
      `const it = [\n  ${spread}[1, "]"],\n]`,
      `const it = [\n  ${spread}(["a"] as const)]`,
      `call(\n  ${spread}[1, [2]])`,
    ])
      expect(await found(code)).toEqual([
        `${path}:2: spreads the elements of an array literal; write them without the spread`,
      ])
    const harmless = `
      const it = { ${spread}all, ${spread}(isA ? { a } : {}), ${spread}(b && { b }) }
      const list = [${spread}["a", "b"].map(toC), ${spread}[1, 2][Symbol.iterator](), ${spread}{}.keys]
      const rest = (${spread}[a, b]: Pair) => <p>{${spread}[a]}</p>`
    expect(await found(harmless)).toEqual([])
  })

  test("refuses comparisons of owners with callers beside the rule of access", async () => {
    const path = "packages/server/src/domain/vals/a.ts"
    for (const code of [
      "if (val.ownerId !== caller.actorId) throw no()",
      "return viewer?.ownerId === val.ownerId",
      "return run.userId === caller.ownerId",
    ]) {
      const [problem = "", ...others] = await check({ [path]: code })
      expect([problem.startsWith(`${path}:1: compares an owner`), others]).toEqual([true, []])
      expect(await check({ "packages/server/src/domain/access/a.ts": code })).toEqual([])
    }
    expect(await check({ [path]: "if (caller.ownerId !== caller.actorId) act()" })).toEqual([])
  })
})
