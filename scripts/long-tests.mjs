// npm run long-test: the tests that are random or take long, with a new seed each time. `npm run
// long-test -- cluster --kills 10` runs one of them, `--seed 7` repeats a run, `--brief` takes a minute
// for each. `testing/selection/long-tests.mjs` names them.
import { availableParallelism } from "node:os"
import { runTests } from "./testing/run.mjs"
import { chooseLongTests } from "./testing/selection/long-tests.mjs"

const briefSilenceMsMax = 300_000

const { tests, isBrief, seed } = choose()
console.log(`The seed is ${seed}; "--seed ${seed}" repeats this run.`)
process.exitCode = await runTests({
  // bun treats 0 as no limit.
  parts: tests.flatMap(({ files, env }) =>
    files.map((file) => ({ args: ["--timeout", "0", file], env })),
  ),
  // What whole runs measure needs the machine for itself.
  partsAtOnce: isBrief ? availableParallelism() : 1,
  ...(isBrief ? { silenceMsMax: briefSilenceMsMax } : {}),
})

function choose() {
  try {
    return chooseLongTests(process.argv.slice(2))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  }
}
