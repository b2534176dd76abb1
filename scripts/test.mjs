// npm test: every test, or those that the arguments select, as in `npm test -- packages/server -t
// "saveVersion"`.
import { root } from "./setup/root.mjs"
import { runTests } from "./testing/run.mjs"
import { splitTests } from "./testing/split.mjs"

const timeoutMs = 30_000
const silenceMsMax = 4 * timeoutMs
const args = process.argv.slice(2)
const selections = args.length > 0 ? [args] : splitTests(root)
process.exitCode = await runTests({
  parts: selections.map((selection) => ["--timeout", String(timeoutMs), ...selection]),
  silenceMsMax,
})
