import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { CliError } from "../cli-error.ts"
import { readVal } from "./read-val.ts"

const read = (value: unknown, path = "vals/stem.json") =>
  readVal(path, Buffer.from(JSON.stringify(value)))

describe("readVal", () => {
  test("reads JSON of other services", () => {
    const table: readonly (readonly [title: string, fields: object, expected: object])[] = [
      ["a name from the file", { code: "1" }, { name: "stem", versions: [{ code: "1" }] }],
      ["the old flag", { code: "1", public: true }, { privacy: "public" }],
      ["the old flag, off", { code: "1", public: false }, { privacy: "private" }],
      [
        "a privacy over the flag",
        { code: "1", privacy: "unlisted", public: true },
        { privacy: "unlisted" },
      ],
      [
        "an unknown privacy as private",
        { code: "1", privacy: "everyone", public: true },
        { privacy: "private" },
      ],
      ["an old type", { code: "1", type: "express" }, { type: "http" }],
      ["a version from 0", { code: "1", version: 0 }, { versions: [{ code: "1" }] }],
      ["a version", { code: "1", version: 4 }, { versions: [{ version: 4, code: "1" }] }],
      [
        "a time with a zone",
        { code: "1", createdAt: "2024-01-01T02:00:00+02:00" },
        { createdAt: "2024-01-01T00:00:00.000Z" },
      ],
    ]
    for (const [title, fields, expected] of table)
      expect([title, read(fields)]).toMatchObject([title, expected])
    expect(read({ code: "1", type: "rpc2", createdAt: "soon", readme: 1, comments: null })).toEqual(
      {
        name: "stem",
        versions: [{ code: "1" }],
      },
    )
  })

  test("parses any JSON to a val, or refuses it and names the file", () => {
    const field = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom("a", "public", "http", 1, [{ code: "1" }], [{ author: "a", comment: "b" }]),
    )
    const keys = [
      "name",
      "code",
      "type",
      "privacy",
      "public",
      "readme",
      "version",
      "versions",
      "comments",
      "createdAt",
      "__proto__",
    ]
    const values = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...keys), field))
    fc.assert(
      fc.property(values, (value) => {
        try {
          const { name, versions } = read(value)
          expect(name).toMatch(/^[a-zA-Z]\w{0,47}$/)
          expect(versions.every(({ code }) => typeof code === "string" && code !== "")).toBe(true)
          expect(versions.length).toBeGreaterThan(0)
        } catch (error) {
          if (!(error instanceof CliError)) throw error
          expect(error.message).toStartWith('Cannot make a val of "vals/stem.json": ')
        }
      }),
      { numRuns: 1000 },
    )
  })

  test("reads files with a first line, and refuses invalid ones", () => {
    const text = (content: string | Uint8Array, path = "a/hello.ts") =>
      readVal(path, Buffer.from(content))
    expect(text("// hamlet: privacy=public\n1")).toEqual({
      name: "hello",
      privacy: "public",
      versions: [{ code: "1" }],
    })
    expect(() => text("")).toThrow("it has no code")
    expect(() => text("1", "a/no+name.tsx")).toThrow('"no+name" is not a valid name')
    expect(() => text(new Uint8Array([0xff]))).toThrow("UTF-8")
  })
})
