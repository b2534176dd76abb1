// npm test: every test, or those that the arguments select, as in `npm test -- packages/server -t
// "saveVersion"`.
import { availableParallelism } from "node:os"
import { root } from "./setup/root.mjs"
import { runTests } from "./testing/run.mjs"
import { splitTests } from "./testing/split.mjs"

const timeoutMs = 30_000
const silenceMsMax = 4 * timeoutMs
/** Many tests wait for processes, so one more run than there are processors keeps these busy. */
const runsAtOnce = availableParallelism() + 1
/** Small enough that no run ends long after the others, since each takes the next batch. */
const batchesPerRun = 4

const args = process.argv.slice(2)
const selections = args.length > 0 ? [args] : splitTests(root, runsAtOnce * batchesPerRun)
process.exitCode = await runTests({
  parts: selections.map((selection) => ["--timeout", String(timeoutMs), ...selection]),
  partsAtOnce: runsAtOnce,
  silenceMsMax,
})
