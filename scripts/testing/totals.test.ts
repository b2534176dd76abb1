import { describe, expect, test } from "bun:test"
import { runCaptured } from "../child.mjs"
import { withTempTree } from "../temp-tree.ts"
import { findTotals } from "./totals.mjs"

/** What the real `bun test` writes about one test file, with colours, as on a terminal. */
function runBunTest(code: string): Promise<string> {
  const source = `import { expect, test } from "bun:test"\n${code}`
  return withTempTree({ "a.test.ts": source }, async (cwd) => {
    const ended = await runCaptured(process.execPath, ["test"], {
      cwd,
      env: { ...process.env, FORCE_COLOR: "1" },
    })
    return ended.output
  })
}

describe("findTotals", () => {
  test("counts what passed, failed and was left out", async () => {
    const output = await runBunTest(`
      test("a", () => {}); test("b", () => {}); test("c", () => { expect(1).toBe(2) }); test.skip("d", () => {}); test.todo("e")`)
    expect(findTotals(output)).toEqual({ passed: 2, failed: 1, skipped: 2 })
  })

  test("counts a file that cannot be loaded as failed", async () => {
    expect(
      findTotals(await runBunTest(`import { x } from "./nowhere.ts"\ntest("a", () => x())`)),
    ).toEqual({
      passed: 0,
      failed: 1,
      skipped: 0,
    })
  })

  test("counts zero for a file without tests", async () => {
    expect(findTotals(await runBunTest(""))).toEqual({ passed: 0, failed: 0, skipped: 0 })
  })

  test("finds nothing when a test ends the whole program, with an exit code that says success", async () => {
    expect(
      findTotals(await runBunTest(`test("a", () => {}); test("b", () => process.exit(0))`)),
    ).toBeUndefined()
  })

  test("finds nothing when the program is killed", async () => {
    expect(
      findTotals(
        await runBunTest(
          `test("a", () => {}); test("b", () => process.kill(process.pid, "SIGKILL"))`,
        ),
      ),
    ).toBeUndefined()
  })
})
