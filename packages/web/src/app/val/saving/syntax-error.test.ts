import { describe, expect, test } from "bun:test"
import { describeSyntaxError, toSyntaxError } from "./syntax-error.ts"

const toMessage = (reason: string) => `Cannot convert the code to JavaScript: ${reason}`

describe("toSyntaxError", () => {
  test("finds the reason and the line", () => {
    const message = toMessage('Expected ")" but found ":" (line 12)')
    expect(toSyntaxError({ code: "module_not_parsable", message })).toEqual({
      message: 'The code does not parse: Expected ")" but found ":" (line 12)',
      line: 12,
    })
  })

  test("ignores code that only browsers cannot run, and other errors", () => {
    const message = toMessage("decorators and accessor fields are not supported")
    expect(toSyntaxError({ code: "module_not_parsable", message })).toBeUndefined()
    expect(toSyntaxError({ code: "rate_limited", message: toMessage("x (line 1)") })).toBe(
      undefined,
    )
  })

  test("has the words of the editor without its full stop", () => {
    expect(describeSyntaxError({ message: "Expression expected.", line: 2 })).toEqual({
      message: "The code does not parse: Expression expected (line 2)",
      line: 2,
    })
  })
})
