import { expect, test } from "bun:test"
import { listBuiltIns } from "./program-process.ts"

test("listBuiltIns finds the modules of Node that code imports, each once", () => {
  const modules = [
    { code: `import fs from "node:fs"\nimport { stat } from 'node:fs/promises'` },
    { code: "const http = await import(`node:http`)" },
    { code: `export { x } from "node:worker_threads"` },
    { code: `import { z } from "npm:zod"` },
  ]
  expect(listBuiltIns(modules)).toEqual(["fs", "http", "worker_threads"])
  expect(listBuiltIns([])).toEqual([])
})
