// npm test: every test, or those that the arguments select, as in `npm test -- cli` and `npm test --
// packages/server -t "saveVersion"`. `npm test -- --changed` runs those that the uncommitted change
// can affect, `--changed=REVISION` those of everything since a commit. `--cpu` ends with the CPU time
// of every file.
import { availableParallelism } from "node:os"
import { runCaptured } from "./child.mjs"
import { ensurePackages } from "./setup/packages.mjs"
import { bun, root } from "./setup/root.mjs"
import { runTests } from "./testing/run.mjs"
import { selectTests } from "./testing/selection/select.mjs"
import { splitTests, toBatches } from "./testing/selection/split.mjs"

/** For tests without a limit of their own: no test takes so long unless it hangs. */
const timeoutMs = 120_000
const silenceMsMax = 300_000
/**
 * Many tests wait for processes, so that more runs than processors are needed to keep these busy.
 * With three per processor no time is saved, and everything a test waits for takes longer.
 */
const runsAtOnce = 2 * availableParallelism()
/**
 * Small enough that no run ends long after the others, since each takes the next batch. Each batch
 * costs 1.5 s of CPU time: it loads the server and compiles what checks its responses.
 */
const secondsPerBatch = 250
/** What a name selects would otherwise be one batch, and leave a processor idle. */
const secondsPerBatchOfSome = 60

const isTestFile = /^\.\/.*\.test\.\w+$/

/** `npm run long-test` chooses one at random. */
const seedDefault = "20260701"

const isCpuDetailed = process.argv.includes("--cpu")
const args = process.argv.slice(2).filter((arg) => arg !== "--cpu")
const selections = await select()
if (selections.length > 0) {
  process.exitCode = await runTests({
    parts: selections.map((files) => ({ args: ["--timeout", String(timeoutMs), ...files] })),
    partsAtOnce: runsAtOnce,
    silenceMsMax,
    isCpuDetailed,
    env: { HAMLET_TEST_SEED: process.env.HAMLET_TEST_SEED ?? seedDefault },
  })
}

async function select() {
  const changed = args.find((arg) => /^--changed(=|$)/.test(arg))
  if (changed !== undefined) return await selectChanged(changed.split("=")[1] ?? "HEAD")
  if (args.length === 0) return splitTests(root, secondsPerBatch)
  const selected = selectTests(root, args)
  // bun takes a part of a path and a title itself, and fails where a batch has none.
  if (!selected.every((arg) => isTestFile.test(arg))) return [selected]
  const files = new Set(selected.map((path) => path.slice("./".length)))
  return toBatches([...files], secondsPerBatchOfSome)
}

/** @param {string} revision */
async function selectChanged(revision) {
  await ensurePackages({ dev: true })
  const finder = ["scripts/testing/selection/changed.ts", revision]
  const { exitCode, output } = await runCaptured(bun, finder, { cwd: root, env: process.env })
  if (exitCode !== 0) throw new Error(`Cannot find what has changed since ${revision}: ${output}`)
  const files = output.split("\n").filter(Boolean)
  console.log(`${files.length} test files can be affected by the change since ${revision}`)
  return toBatches(files, secondsPerBatch)
}
