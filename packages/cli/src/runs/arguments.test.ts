import { describe, expect, test } from "bun:test"
import { CliError } from "../cli-error.ts"
import { toArguments } from "./arguments.ts"

describe("toArguments", () => {
  const table: readonly (readonly [words: readonly string[], args: unknown, input?: string])[] = [
    [[], []],
    [
      ["1", "true", "null", '"2"', "[3]", '{"a":4}', "five"],
      [1, true, null, "2", [3], { a: 4 }, "five"],
    ],
    [
      ["x=1", "y=two", "last"],
      [{ x: 1, y: "two" }, "last"],
    ],
    [
      ["first", "x={}", "__proto__=1", "z="],
      ["first", JSON.parse('{"x":{},"__proto__":1,"z":""}')],
    ],
    [["-"], ["some\ntext\n"], "some\ntext\n"],
    [["-", "2"], [{ body: 1 }, 2], '{"body":1}\n'],
    [["https://example.com/?a=b"], ["https://example.com/?a=b"]],
  ]
  for (const [words, args, input = ""] of table)
    test(`reads ${words.join(" ")}`, async () =>
      expect(await toArguments(words, async () => input)).toEqual(args as unknown[]))

  for (const words of [["{a:1}"], ["[1"], ['"open'], ["-", "-"]])
    test(`refuses ${words.join(" ")}`, async () =>
      expect(toArguments(words, async () => "")).rejects.toThrow(CliError))
})
