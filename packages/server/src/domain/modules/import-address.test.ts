import { describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import fc from "fast-check"
import { type ImportAddress, parseImportAddress } from "./import-address.ts"

const hosts = { baseUrls: ["http://localhost:8080", "https://vals.example.com/hamlet/"] }
const importer = { username: "Ada", name: "main" }
const newest = { branch: null, version: null, path: null }
const hello: ImportAddress = { username: "ada", name: "hello", ...newest }
const hello3: ImportAddress = { ...hello, version: 3 }
const path = "lib/db.ts"

describe("parseImportAddress", () => {
  const accepted: [string, ImportAddress][] = [
    ["http://localhost:8080/v/ada/hello", hello],
    ["http://localhost:8080/v/ada/hello@3", hello3],
    ["http://localhost:8080/v/@ada/hello@3", hello3],
    ["http://localhost:8080/v/ADA/Hello", hello],
    ["HTTP://LOCALHOST:8080/v/ada/hello", hello],
    ["http://localhost:8080/v/ada/hello?v=3&x=1#part", hello3],
    ["http://localhost:8080/v/ada/hello/lib/db.ts?v=3", { ...hello3, path }],
    ["http://localhost:8080/v/ada/hello@main/a?v=3", { ...hello, path: "a" }],
    ["./hello?v=3", hello3],
    ["http://localhost:8080/v/ada/hello@3?v=9", hello3],
    ["http://localhost:8080/x/../v/ada/hello", hello],
    ["https://vals.example.com/hamlet/v/ada/hello", hello],
    ["https://vals.example.com:443/hamlet/v/ada/hello", hello],
    ["https://esm.town/v/ada/hello", hello],
    ["https://esm.town/v/@ada/hello", hello],
    ["https://esm.town/v/ada/hello@3", hello3],
    ["https://esm.town/v/ada/hello?v=3", hello3],
    ["https://esm.town/v/ada/hello?pin=1&v=3#x", hello3],
    ["https://esm.town/v/ada/hello@3?v=4", hello3],
    ["https://esm.town/v/ada/hello?x=3", hello],
    [`https://esm.town/v/ada/hello@${limits.versionMax}`, { ...hello, version: limits.versionMax }],
    [
      `https://esm.town/v/${"u".repeat(30)}/${"n".repeat(48)}`,
      { username: "u".repeat(30), name: "n".repeat(48), ...newest },
    ],
    ["https://esm.town/v/a_1/b_2", { username: "a_1", name: "b_2", ...newest }],
    ["http://localhost:8080/v/ada/hello-world", { ...hello, name: "hello_world" }],
    ["http://localhost:8080/v/ada/hello/lib/db.ts", { ...hello, path }],
    ["http://localhost:8080/v/ada/hello@3/lib/db.ts", { ...hello3, path }],
    ["http://localhost:8080/v/ada/hello@3-main/lib/db.ts", { ...hello3, path }],
    ["http://localhost:8080/v/ada/hello@3-Main/lib/db.ts?x#y", { ...hello3, path }],
    ["http://localhost:8080/v/ada/hello@0-main/a", { ...hello, version: 0, path: "a" }],
    ["http://localhost:8080/v/ada/hello@main/a", { ...hello, path: "a" }],
    ["http://localhost:8080/v/ada/hello@Draft", { ...hello, branch: "draft" }],
    ["http://localhost:8080/v/ada/hello@3-a-b/x", { ...hello3, branch: "a-b", path: "x" }],
    ["http://localhost:8080/v/ada/hello@3.0", { ...hello, branch: "3.0" }],
    ["https://esm.town/v/ada/hello/[id]/(a)$_-.ts", { ...hello, path: "[id]/(a)$_-.ts" }],
    ["/v/ada/hello/a/../lib/db.ts", { ...hello, path }],
    ["https://esm.town/v/ada/Hello-World", { ...hello, name: "hello_world" }],
    ["/v/ada/hello", hello],
    ["/v/ada/hello@3", hello3],
    ["./hello", hello],
    ["./hello@3?x", hello3],
    ["../ada/hello", hello],
    ["../Bob/Other", { username: "bob", name: "other", ...newest }],
    ["../@bob/other", { username: "bob", name: "other", ...newest }],
    ["../../v/ada/hello", hello],
    ["../../../../v/ada/hello", hello],
  ]
  test.each(accepted)("parses %s", (specifier, address) => {
    expect(parseImportAddress(specifier, hosts, importer)).toEqual(address)
  })

  const refused = [
    "",
    "hello",
    "v/ada/hello",
    "@ada/hello",
    "npm:hello",
    "node:fs",
    "jsr:@ada/hello",
    "data:text/javascript,0",
    "#hello",
    "?v=1",
    ".",
    "..",
    "./",
    "../",
    "/",
    "./a/b",
    "./a.ts",
    "../bob/lib/a.ts",
    "http://localhost:8080/v/ada/hello//a",
    "http://localhost:8080/v/ada/hello/a/",
    "http://localhost:8080/v/ada/hello/a%2fb",
    "http://localhost:8080/v/ada/hello/a%20b",
    "http://localhost:8080/v/ada/hello@03-main/a",
    "http://localhost:8080/v/ada/hello@3-ä/a",
    `http://localhost:8080/v/ada/hello@3-${"b".repeat(49)}/a`,
    `http://localhost:8080/v/ada/hello/${"a".repeat(256)}`,
    `http://localhost:8080/v/ada/hello/${"a/".repeat(20)}a`,
    "../hello",
    "//esm.town/v/ada/hello",
    "http://esm.town/v/ada/hello",
    "https://esm.town:444/v/ada/hello",
    "https://esm.town.evil.com/v/ada/hello",
    "https://evil.com/https://esm.town/v/ada/hello",
    "https://me:secret@esm.town/v/ada/hello",
    "https://localhost:8080/v/ada/hello",
    "http://localhost:8081/v/ada/hello",
    "http://localhost:8080/v1/ada/hello",
    "http://localhost:8080/V/ada/hello",
    "http://localhost:8080/v/ada",
    "http://localhost:8080/v/ada/",
    "http://localhost:8080/v/ada/hello/",
    "http://localhost:8080/v/ada//hello",
    "http://localhost:8080/v/ada/hello.ts",
    "http://localhost:8080/v/@/hello",
    "http://localhost:8080/v/@@ada/hello",
    "http://localhost:8080/v/1ada/hello",
    "http://localhost:8080/v/ada/1hello",
    "http://localhost:8080/v/ada/_hello",
    "http://localhost:8080/v/ada/h%65llo",
    "http://localhost:8080/v/ada/héllo",
    "http://localhost:8080/v/ada-b/hello",
    "http://localhost:8080/v/ada/hello@",
    "http://localhost:8080/v/ada/hello@0",
    "http://localhost:8080/v/ada/hello@03",
    "http://localhost:8080/v/ada/hello@3@4",
    `http://localhost:8080/v/ada/hello@${limits.versionMax + 1}`,
    "http://localhost:8080/v/ada/hello@99999999999999999999",
    `http://localhost:8080/v/${"u".repeat(31)}/hello`,
    `http://localhost:8080/v/ada/${"n".repeat(49)}`,
    "https://esm.town/v/ada/hello?v=",
    "https://esm.town/v/ada/hello?v=latest",
    "https://esm.town/v/ada/hello?v=0",
    "http://localhost:8080/v/ada/hello?v=latest",
    "./hello?v=0",
    "https://vals.example.com/v/ada/hello",
    "https://vals.example.com/hamletx/v/ada/hello",
    "https://",
    "https://[",
  ]
  test.each(refused)("refuses %s", (specifier) => {
    expect(parseImportAddress(specifier, hosts, importer)).toBeUndefined()
  })

  test("resolves relative imports like a browser when the base URL has a path", () => {
    const prefixed = { baseUrls: ["https://vals.example.com/hamlet"] }
    expect(parseImportAddress("./hello", prefixed, importer)).toEqual(hello)
    expect(parseImportAddress("/hamlet/v/ada/hello", prefixed, importer)).toEqual(hello)
    expect(parseImportAddress("/v/ada/hello", prefixed, importer)).toBeUndefined()
  })

  test("accepts root-relative but not relative imports without an owner", () => {
    expect(parseImportAddress("/v/ada/hello", hosts)).toEqual(hello)
    expect(parseImportAddress("./hello", hosts)).toBeUndefined()
  })

  test("accepts no base URL, and a base URL that is invalid", () => {
    expect(parseImportAddress("./hello", { baseUrls: [] }, importer)).toBeUndefined()
    expect(parseImportAddress("/v/ada/hello", { baseUrls: ["nonsense"] }, importer)).toBeUndefined()
    expect(
      parseImportAddress("https://esm.town/v/ada/hello", { baseUrls: ["nonsense"] }, importer),
    ).toEqual(hello)
  })

  test("never throws, and returns only lower-case names and versions in range", () => {
    const part = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "/",
        "v",
        "@",
        "..",
        ".",
        "?v=",
        "https://esm.town",
        "http://localhost:8080",
        "ada",
        "%",
        "\\",
      ),
    )
    const specifiers = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.webUrl(),
      fc.array(part).map((parts) => parts.join("")),
      fc.array(part).map((parts) => parts.join("/")),
    )
    fc.assert(
      fc.property(
        specifiers,
        fc.array(fc.oneof(fc.webUrl(), fc.string())),
        (specifier, baseUrls) => {
          const address = parseImportAddress(specifier, { baseUrls }, importer)
          if (!address) return
          expect(address.username).toMatch(/^[a-z][a-z0-9_]{0,29}$/)
          expect(address.name).toMatch(/^[a-z][a-z0-9_]{0,47}$/)
          expect(
            address.version === null ||
              (address.version >= 0 && address.version <= limits.versionMax),
          ).toBe(true)
        },
      ),
      { numRuns: 2000 },
    )
  })

  test("parses every spelling of a valid address to the same result", () => {
    const username = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_]{0,29}$/)
    const name = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_]{0,47}$/)
    const version = fc.option(fc.integer({ min: 1, max: limits.versionMax }))
    const start = fc.constantFrom(
      "http://localhost:8080/v/",
      "https://vals.example.com/hamlet/v/",
      "https://esm.town/v/",
      "/v/",
      "../",
      "/v/@",
      "../@",
    )
    fc.assert(
      fc.property(username, name, version, start, (user, val, number, prefix) => {
        const address = parseImportAddress(
          `${prefix}${user}/${val}${number === null ? "" : `@${number}`}`,
          hosts,
          importer,
        )
        expect(address).toEqual({
          username: user.toLowerCase(),
          name: val.toLowerCase(),
          branch: null,
          version: number,
          path: null,
        })
      }),
    )
  })
})
