import { describe, expect, test } from "bun:test"
import type { CallParameter, ParameterField } from "../../../editor/type-service/protocol.ts"
import {
  readArguments,
  readField,
  replaceArgument,
  replaceRest,
  toFieldText,
} from "./argument-values.ts"

const toParameter = (field: ParameterField, isOptional = false, isRest = false): CallParameter => ({
  name: "it",
  type: "",
  documentation: "",
  field,
  isOptional,
  isRest,
})

describe("readArguments", () => {
  test.each([
    ["", []],
    ["[6, 3]", [6, 3]],
    ['"one"', ["one"]],
    ['{"a":1}', [{ a: 1 }]],
    ["[6,", undefined],
  ])("reads %j", (text, values) => {
    expect(readArguments(text)).toEqual(values as unknown[])
  })
})

describe("replaceArgument", () => {
  test("keeps the others, and drops missing ones at the end only", () => {
    expect(replaceArgument("", 0, "a")).toBe('["a"]')
    expect(replaceArgument('["a"]', 2, 3)).toBe('["a",null,3]')
    expect(replaceArgument('["a",1,3]', 1, undefined)).toBe('["a",null,3]')
    expect(replaceArgument('["a",1]', 1, undefined)).toBe('["a"]')
    expect(replaceArgument("[1]", 0, undefined)).toBe("")
    expect(replaceArgument("not JSON", 0, true)).toBe("[true]")
  })
})

describe("replaceRest", () => {
  test("replaces all further arguments", () => {
    expect(replaceRest("[1,2,3]", 1, [4])).toBe("[1,4]")
    expect(replaceRest("", 1, [4])).toBe("[null,4]")
    expect(replaceRest("[1,2]", 0, [])).toBe("")
  })
})

describe("readField", () => {
  test.each([
    [{ kind: "text" }, "12", "12"],
    [{ kind: "text" }, "", ""],
    [{ kind: "number" }, "-1.5", -1.5],
    [{ kind: "number" }, "", undefined],
    [{ kind: "boolean" }, "false", false],
    [{ kind: "choice", values: ["a", 3] }, "3", 3],
    [{ kind: "choice", values: ["a", 3] }, "other", undefined],
    [{ kind: "json" }, '{"a":[1]}', { a: [1] }],
  ] as const)("reads %j from %j", (field, text, value) => {
    const parameter = toParameter(field)
    expect(readField(parameter, text)).toEqual({ ok: true, value })
    if (value !== undefined) expect(toFieldText(parameter, [value], 0)).toBe(text)
  })

  test("refuses what is no number or no JSON, and leaves out an empty optional text", () => {
    expect(readField(toParameter({ kind: "number" }), "x")).toEqual({ ok: false })
    expect(readField(toParameter({ kind: "json" }), "{")).toEqual({ ok: false })
    expect(readField(toParameter({ kind: "text" }, true), "")).toEqual({
      ok: true,
      value: undefined,
    })
  })
})
