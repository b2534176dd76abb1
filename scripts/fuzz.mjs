// npm run fuzz: the fuzz tests with the given number of requests, without a time limit.
import { runTests } from "./testing/run.mjs"

const requestsDefault = 1_000_000
const [requests = String(requestsDefault), ...args] = process.argv.slice(2)
if (!/^[1-9]\d*$/.test(requests)) {
  console.error(
    `Cannot send "${requests}" requests: give a whole number, as in npm run fuzz -- 50000`,
  )
  process.exit(2)
}
process.exitCode = await runTests({
  // bun treats 0 as no limit.
  parts: ["fuzz", "fuzz-sockets"].map((suite) => [
    ...["--timeout", "0", ...args],
    `./packages/server/test/${suite}.test.ts`,
  ]),
  env: { HAMLET_FUZZ_REQUESTS: requests },
})
