import { describe, expect, test } from "bun:test"
import { privacies, valTypes } from "@hamlet/contract/lists"
import fc from "fast-check"
import { CliError } from "../cli-error.ts"
import { formatFile, parseFile } from "./front-matter.ts"

describe("parseFile", () => {
  const table: readonly (readonly [title: string, text: string, front: object, code: string])[] = [
    ["no first line", "export default 1\n", {}, "export default 1\n"],
    ["an empty file", "", {}, ""],
    [
      "all fields",
      "// hamlet: name=hello privacy=public type=http\n1\n",
      { name: "hello", privacy: "public", type: "http" },
      "1\n",
    ],
    ["some fields", "// hamlet: type=email\n1", { type: "email" }, "1"],
    ["no fields", "// hamlet:\n1", {}, "1"],
    [
      "more spaces",
      "// hamlet:   name=a    privacy=private  \n1",
      { name: "a", privacy: "private" },
      "1",
    ],
    ["quotes", '// hamlet: name="hello"\n1', { name: "hello" }, "1"],
    ["carriage returns", "// hamlet: name=a\r\n1\r\n", { name: "a" }, "1\r\n"],
    ["a byte order mark", "\ufeff// hamlet: name=a\n1", { name: "a" }, "1"],
    ["nothing but the line", "// hamlet: name=a", { name: "a" }, ""],
    ["the line further down", "1\n// hamlet: name=a\n", {}, "1\n// hamlet: name=a\n"],
    [
      "two such lines",
      "// hamlet: name=a\n// hamlet: name=b\n",
      { name: "a" },
      "// hamlet: name=b\n",
    ],
  ]
  for (const [title, text, front, code] of table)
    test(`reads ${title}`, () => expect(parseFile(text, "x.ts")).toEqual({ front, code }))

  for (const line of [
    "colour=red",
    "name",
    "name=",
    "name=a name=b",
    "name=a+b",
    "privacy=secret",
    "type=cron",
    'name="a',
    'name="a"b',
    "name=1a",
    `name=${"a".repeat(49)}`,
    "NAME=a",
    "__proto__=a",
    "constructor=a",
  ])
    test(`refuses ${line.slice(0, 20)}, and names the file`, () => {
      const read = () => parseFile(`// hamlet: ${line}\n1`, "x.ts")
      expect(read).toThrow(CliError)
      expect(read).toThrow(/^Cannot read the first line of "x.ts": /)
    })
})

test("parseFile reads what formatFile writes, byte for byte", () => {
  const front = fc.record(
    {
      name: fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_]{0,47}$/),
      privacy: fc.constantFrom(...privacies),
      type: fc.constantFrom(...valTypes),
    },
    { requiredKeys: [] },
  )
  const code = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("// hamlet: name=x\n1", "\n", "\r\n", "", "// hamlet:", "\ufeff1"),
  )
  fc.assert(
    fc.property(front, code, (front, code) => {
      expect(parseFile(formatFile({ front, code }), "x.ts")).toEqual({ front, code })
    }),
  )
})
