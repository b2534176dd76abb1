import { describe, expect, test } from "bun:test"
import { parseImportAddress } from "./import-address.ts"
import { findStandardModule, listStandardModules } from "./standard-modules.ts"

const hosts = { baseUrls: ["http://localhost:8080", "https://vals.example.com/hamlet/"] }
const from = "http://localhost:8080/v/ada/main@3"
const sources = {
  API_URL: "the code of API_URL",
  blob: "the code of blob",
  "blob/main": "the code of blob/main",
  email: "the code of email",
  fetch: "the code of fetch",
  openai: "the code of openai",
  rpc: "the code of rpc",
  sqlite: "the code of sqlite",
  "sqlite/main": "the code of sqlite/main",
  sqlite2: "the code of sqlite",
  utils: "the code of utils",
}

describe("findStandardModule", () => {
  const accepted = [
    ["http://localhost:8080/std/blob", "blob"],
    ["http://localhost:8080/std/blob.ts", "blob"],
    ["HTTP://LOCALHOST:8080/std/sqlite", "sqlite"],
    ["http://localhost:8080/x/../std/sqlite.ts?x=1", "sqlite"],
    ["https://vals.example.com/hamlet/std/blob", "blob"],
    ["/std/blob", "blob"],
    ["../../std/sqlite.ts", "sqlite"],
    ["https://esm.town/v/std/blob", "blob"],
    ["https://esm.town/v/@std/blob", "blob"],
    ["https://esm.town/v/std/blob@12", "blob"],
    ["https://esm.town/v/std/sqlite?v=4", "sqlite"],
    ["https://esm.town/v/std/sqlite/main.ts", "sqlite/main"],
    ["https://esm.town/v/std/sqlite@3-main/main.ts?x", "sqlite/main"],
    ["/std/sqlite/main.ts", "sqlite/main"],
    ["/std/sqlite/global.ts", "sqlite"],
    ["https://vals.example.com/hamlet/std/blob/main", "blob/main"],
    ["/std/blob/global.ts", "blob"],
    ["/std/email/main.ts", "email"],
    ["https://esm.town/v/std/sqlite/global.ts", "sqlite"],
    ["https://esm.town/v/std/blob@14-main/main.tsx", "blob/main"],
    ["https://esm.town/std/blob", "blob"],
    ["https://esm.town/v/std/email", "email"],
    ["https://esm.town/v/std/OpenAI", "openai"],
    ["https://esm.town/v/std/openai/main.ts", "openai"],
    ["https://esm.town/v/std/utils@85-main/index.ts", "utils"],
    ["https://esm.town/v/std/sqlite2", "sqlite2"],
    ["https://esm.town/v/std/API_URL?v=5", "API_URL"],
    ["/std/API_URL", "API_URL"],
    ["/std/fetch.ts", "fetch"],
  ] as const
  test.each(accepted)("finds %s", (specifier, name) => {
    const found = findStandardModule(specifier, from, hosts)
    expect(found).toEqual({ name, url: new URL(specifier, from).href })
    // What is the standard library is no val.
    expect(parseImportAddress(specifier, hosts, { username: "ada", name: "main" })).toBeUndefined()
  })

  const refused = [
    "",
    "blob",
    "std/blob",
    "@std/blob",
    "jsr:@std/blob",
    "npm:std/blob",
    "./std/blob",
    "./blob",
    "/blob",
    "/std/",
    "/std/blob/",
    "/std/blob.js",
    "/std/blobs",
    "/std/BLOB",
    "/std/mail",
    "/std/api_url",
    "/std%2fblob",
    "/x/std/blob",
    "http://localhost:8081/std/blob",
    "https://localhost:8080/std/blob",
    "http://ada@localhost:8080/std/blob",
    "https://vals.example.com/std/blob",
    "https://vals.example.com/hamlet2/std/blob",
    "http://esm.town/v/std/blob",
    "https://esm.town/v/std/mail",
    "https://esm.town/v/std/utils/other.ts",
    "https://esm.town/v/std/blob/other.ts",
    "https://esm.town/v/std/blob/main.ts/x",
    "https://esm.town.example.com/v/std/blob",
    "https://esm.sh/v/std/blob",
  ]
  test.each(refused)("does not find %s", (specifier) => {
    expect(findStandardModule(specifier, from, hosts)).toBeUndefined()
  })

  test("does not hide vals of a user named std", () => {
    const address = { username: "std", name: "blob", branch: null, version: null, path: null }
    for (const specifier of ["http://localhost:8080/v/std/blob", "/v/std/blob", "../std/blob"]) {
      expect(findStandardModule(specifier, from, hosts)).toBeUndefined()
      expect(parseImportAddress(specifier, hosts, { username: "ada", name: "main" })).toEqual(
        address,
      )
    }
    expect(parseImportAddress("https://esm.town/v/std/mail", hosts)).toEqual({
      ...address,
      name: "mail",
    })
  })

  test("keeps the query and drops the fragment", () => {
    expect(findStandardModule("/std/blob?a#b", from, hosts)?.url).toBe(
      "http://localhost:8080/std/blob?a",
    )
  })
})

describe("listStandardModules", () => {
  const list = (...modules: (readonly [url: string, code: string])[]) =>
    listStandardModules(
      modules.map(([url, code]) => ({ url, code })),
      hosts,
      sources,
    )

  test("returns each module under every address that the code imports", () => {
    const code = `import { blob } from "https://esm.town/v/std/blob?v=3"
      import sqlite from '/std/sqlite'
      export * from "../../std/blob.ts"
      const later = await import(\`http://localhost:8080/std/sqlite.ts\`)
      import again from "/std/sqlite"
      import { OpenAI } from "https://esm.town/v/std/OpenAI"`
    expect(list([from, code])).toEqual([
      { url: "https://esm.town/v/std/blob?v=3", code: sources.blob, type: "js" },
      { url: "http://localhost:8080/std/sqlite", code: sources.sqlite, type: "js" },
      { url: "http://localhost:8080/std/blob.ts", code: sources.blob, type: "js" },
      { url: "http://localhost:8080/std/sqlite.ts", code: sources.sqlite, type: "js" },
      { url: "https://esm.town/v/std/OpenAI", code: sources.openai, type: "js" },
    ])
  })

  test("resolves a relative address against the address of the module", () => {
    const found = list(
      [from, 'import "/std/blob"'],
      ["https://esm.town/v/bob/lib", 'import "/std/blob"'],
      ["https://other.test/x", 'import "/std/blob"'],
    )
    expect(found.map(({ url }) => url)).toEqual([
      "http://localhost:8080/std/blob",
      "https://esm.town/std/blob",
    ])
  })

  test("returns nothing for code without standard modules", () => {
    expect(
      list(
        [from, "// see https://esm.town/v/std/blob for more\nconst std = blob"],
        [from, 'import "std/blob"'],
      ),
    ).toEqual([])
  })

  test("terminates for any code", () => {
    const many = Array.from({ length: 5_000 }, (_, index) => `import "/std/blob?${index}"`).join(
      "\n",
    )
    expect(list([from, many])).toHaveLength(50)
    for (const unit of [
      '"',
      '"std/blob',
      "std/blob",
      `"${"x".repeat(400)}std/`,
      '"/std/blob?',
      "`\\std/blob",
    ]) {
      expect(
        list([from, unit.repeat(Math.ceil(256_000 / unit.length))]).length,
      ).toBeLessThanOrEqual(1)
    }
  })
})
