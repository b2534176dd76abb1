import { expect, test } from "bun:test"
import { fileURLToPath } from "node:url"
import { runExamples } from "@hamlet/kit/testing"

test.each(["./index.ts", "../README.md"])("the examples of %s run", async (file) => {
  const examples = await runExamples(fileURLToPath(new URL(file, import.meta.url)))
  expect(examples.length).toBeGreaterThan(0)
  for (const { printed, promised } of examples) expect(printed).toEqual([...promised])
})
