import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { errorCodes, limits } from "@hamlet/contract"
import { programLimits } from "@hamlet/sandbox"

const packages = join(import.meta.dir, "../..")

// The packages know no codes, and `AppError` promises that each is one of the contract.
test("packages refuse with codes of the contract", async () => {
  const codes = new Set<string>()
  for (const name of ["database", "kit", "http1", "sandbox", "npm", "owner-databases"])
    for await (const path of new Bun.Glob("src/**/*.ts").scan(join(packages, name))) {
      if (path.endsWith(".test.ts")) continue
      const code = readFileSync(join(packages, name, path), "utf8")
      for (const [, found = ""] of code.matchAll(/(?:new Refused|super)\(\s*"([a-z_]+)"/g))
        codes.add(found)
    }
  expect(codes.size).toBeGreaterThan(3)
  expect([...codes].filter((code) => !Object.hasOwn(errorCodes, code))).toEqual([])
})

test("what packages keep of programs is what the contract promises", () => {
  expect(programLimits).toEqual({
    valueBytesMax: limits.runValueBytesMax,
    logBytesMax: limits.runLogBytesMax,
    moduleCharsMax: limits.codeCharsMax,
  })
})
