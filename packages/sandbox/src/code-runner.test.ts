import { describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { runExamples } from "@hamlet/kit/testing"
import { type CodeRunner, openCodeRunner } from "./code-runner.ts"

describe("a code runner", () => {
  test("returns what code of a stranger returns, with its logs", async () => {
    await using own = await open()
    const code = `export default (a: number) => { console.log("saw", a); return { sum: a + 1 } }`
    const { json, error, logs } = await own.runner.call("ada", code, [1])
    expect([json, error, logs.map(({ message }) => message)]).toEqual([
      '{"sum":2}',
      undefined,
      ["saw 1"],
    ])
  })

  test("stops code that goes on for ever, and reports code that throws", async () => {
    await using own = await open(1_000)
    const endless = await own.runner.call("ada", "export default () => { while (true); }", [])
    expect(endless.error?.name).toBe("TimedOut")
    const throwing = "export default () => { throw new RangeError('too far') }"
    expect((await own.runner.call("ada", throwing, [])).error).toMatchObject({
      name: "RangeError",
      message: "too far",
    })
  })

  test("gives code neither network nor files nor programs", async () => {
    await using own = await open()
    const code = `export default async () => {
      const attempts = {
        fetch: () => fetch("http://127.0.0.1:1/"),
        connect: () => Deno.connect({ hostname: "127.0.0.1", port: 1 }),
        read: () => Deno.readTextFile("/etc/passwd"),
        run: () => new Deno.Command("true").output(),
      }
      const outcomes = {}
      for (const [name, attempt] of Object.entries(attempts))
        outcomes[name] = await attempt().then(() => "done", (error) => error.name)
      return outcomes
    }`
    const { json } = await own.runner.call("ada", code, [])
    expect(Object.values(JSON.parse(json ?? "{}"))).not.toContain("done")
    expect(Object.keys(JSON.parse(json ?? "{}"))).toHaveLength(4)
  })
})

test.each(["./index.ts", "../README.md"])("the examples of %s run", async (file) => {
  const examples = await runExamples(fileURLToPath(new URL(file, import.meta.url)))
  expect(examples.length).toBeGreaterThan(0)
  for (const { printed, promised } of examples) expect(printed).toEqual([...promised])
})

async function open(runMsMax = 20_000): Promise<AsyncDisposable & { readonly runner: CodeRunner }> {
  const dataDir = mkdtempSync(join(tmpdir(), "hamlet-test-"))
  const runner = await openCodeRunner({ dataDir, limits: { runMsMax, waitMsMax: 60_000 } })
  return {
    runner,
    async [Symbol.asyncDispose]() {
      await runner[Symbol.asyncDispose]()
      rmSync(dataDir, { recursive: true })
    },
  }
}
