// npm test: every test, or those that the arguments select, as in `npm test -- packages/server -t "saveVersion"`.
import { runTests } from "./testing/run.mjs"

const timeoutMs = 30_000
const silenceMsMax = 4 * timeoutMs
const args = process.argv.slice(2)
const selection = args.length > 0 ? args : ["./packages", "./scripts"]
process.exitCode = await runTests({ args: ["--timeout", String(timeoutMs), ...selection], silenceMsMax })
