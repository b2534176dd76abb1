// npm test: every test, or those that the arguments select, as in `npm test -- cli` and `npm test --
// packages/server -t "saveVersion"`.
import { availableParallelism } from "node:os"
import { root } from "./setup/root.mjs"
import { runTests } from "./testing/run.mjs"
import { selectTests } from "./testing/select.mjs"
import { splitTests } from "./testing/split.mjs"

/** For tests without a limit of their own: no test takes so long unless it hangs. */
const timeoutMs = 120_000
const silenceMsMax = 300_000
/**
 * Many tests wait for processes, so that more runs than processors are needed to keep these busy.
 * With three per processor no time is saved, and everything a test waits for takes longer.
 */
const runsAtOnce = 2 * availableParallelism()
/** Small enough that no run ends long after the others, since each takes the next batch. */
const secondsPerBatch = 75

/** Long runs choose a seed at random: see packages/server/test/README.md. */
const seedDefault = "20260701"

const args = process.argv.slice(2)
const selections = args.length > 0 ? [selectTests(root, args)] : splitTests(root, secondsPerBatch)
process.exitCode = await runTests({
  parts: selections.map((selection) => ["--timeout", String(timeoutMs), ...selection]),
  partsAtOnce: runsAtOnce,
  silenceMsMax,
  env: { HAMLET_TEST_SEED: process.env.HAMLET_TEST_SEED ?? seedDefault },
})
