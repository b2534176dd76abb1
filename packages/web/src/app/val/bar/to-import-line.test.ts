import { expect, test } from "bun:test"
import { toImportLine } from "./to-import-line.ts"

test("toImportLine has a name that is one of a variable", () => {
  expect(toImportLine("my_val", "https://x.org/v/ada/my_val")).toBe(
    'import my_val from "https://x.org/v/ada/my_val"',
  )
  expect(toImportLine("my-long--val-", "a")).toBe('import myLongVal from "a"')
})
