import { describe, expect, test } from "bun:test"
import { readStyle } from "./code-style.ts"

describe("readStyle", () => {
  test.each([
    ["const a = 1;\nf(a);\n", { semicolons: true, quotes: "double" }],
    ["const a = 1\nf(a)\n", { semicolons: false, quotes: "double" }],
    [
      "import a from 'a'\nexport default function () {\n  return 'b'\n}\n",
      { semicolons: false, quotes: "single" },
    ],
    ["", { semicolons: true, quotes: "double" }],
  ] as const)("takes the style of most lines of %j", (code, style) => {
    expect(readStyle(code)).toEqual(style)
  })
})
