import { describe, expect, test } from "bun:test"
import { runCaptured } from "../child.mjs"
import { withTempTree } from "../temp-tree.ts"
import { createFailureCollector, toFailureLines } from "./failures.mjs"

/** The lines about failed tests in what the real `bun test` writes about these files. */
function reportOf(
  files: Readonly<Record<string, string>>,
  { env = {}, timeoutMs = 60_000 }: { env?: Record<string, string>; timeoutMs?: number } = {},
) {
  const sources = Object.entries(files).map(([name, code]) => [
    name,
    `import { describe, expect, test } from "bun:test"\n${code}`,
  ])
  return withTempTree(Object.fromEntries(sources), async (cwd) => {
    const args = ["test", "--timeout", String(timeoutMs)]
    const { output } = await runCaptured(process.execPath, args, {
      cwd,
      env: { ...process.env, ...env },
    })
    const collector = createFailureCollector()
    // In pieces, as a pipe delivers it.
    for (let at = 0; at < output.length; at += 7) collector.read(output.slice(at, at + 7))
    return toFailureLines(collector.failures)
  })
}

const passing = `test("fine", () => { console.error(["nothing", "of", "this"].join(" ")) });\n`

describe("createFailureCollector", () => {
  test.each([{}, { FORCE_COLOR: "1" }])(
    "repeats each failed test with its error, %p",
    async (env) => {
      const lines = await reportOf(
        {
          "a.test.ts": `${passing} describe("sums", () => { test("add up", () => { expect(1 + 1).toBe(3) }) })\n\n\n\n\n\n\ntest("good", () => {})`,
          "b.test.ts": `test("throws", () => { throw new Error("it is broken") })`,
        },
        { env },
      )
      const text = lines.join("\n")
      expect(text).toContain("failed: a.test.ts: sums > add up")
      expect(text).toContain("Expected: 3")
      expect(text).toContain("failed: b.test.ts: throws")
      expect(text).toContain("it is broken")
      expect(text).not.toContain("nothing of this")
      expect(text).not.toContain("good")
      expect(lines.filter((line) => line.startsWith("failed: "))).toHaveLength(2)
    },
  )

  test("reports a test that takes too long and a file that cannot be loaded", async () => {
    const text = (
      await reportOf(
        {
          "a.test.ts": `test("never ends", () => new Promise(() => {}))`,
          "b.test.ts": `import "./nowhere.ts"; test("x", () => {})`,
        },
        { timeoutMs: 200 },
      )
    ).join("\n")
    expect(text).toContain("failed: a.test.ts: never ends")
    expect(text).toContain("timed out after 200ms")
    expect(text).toMatch(/failed: b\.test\.ts: .*\n.*nowhere\.ts/s)
  })

  test("names a failed test once, although bun lists many failed tests again", async () => {
    const lines = await reportOf({
      "a.test.ts": `for (let n = 1; n <= 25; n += 1) test("case " + n + ".", () => { throw new Error("of " + n + ".") })`,
    })
    expect(lines.filter((line) => line.startsWith("failed: "))).toHaveLength(20)
    expect(lines).toContain("5 more failed")
    expect(lines.filter((line) => line.includes("of 7."))).not.toEqual([])
  })

  test("keeps the last 60 lines of a test", async () => {
    const lines = await reportOf({
      "a.test.ts": `test("noisy", () => { for (let n = 1; n <= 500; n += 1) console.error("line " + n); throw new Error("the end") })`,
    })
    expect(lines.length).toBeLessThan(70)
    expect(lines.join("\n")).toContain("the end")
  })
})

describe("toFailureLines", () => {
  test("prints nothing when nothing failed", () => {
    expect(toFailureLines([])).toEqual([])
  })
})
