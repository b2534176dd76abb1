import { runInForeground } from "../child.mjs"
import { startPostgres } from "../postgres.mjs"
import { ensurePackages } from "../setup/packages.mjs"
import { bun, root } from "../setup/root.mjs"
import { ensureSystemPackages, requirements } from "../setup/system-packages.mjs"
import { createTestEnvironment } from "./environment.mjs"
import { collectLeaks } from "./leaks.mjs"
import { toReport } from "./report.mjs"
import { findTotals } from "./totals.mjs"

/**
 * @typedef {object} TestOptions
 * @property {string[]} args as for `bun test`
 * @property {Record<string, string>} [env]
 * @property {number} [silenceMsMax] a test that never yields is beyond bun's own limit; after this long without a word bun is ended
 */

/** Enough of the end of bun's output to hold its totals. */
const outputCharsKept = 10_000

/**
 * Installs what is missing, runs `bun test` with a PostgreSQL of its own and says what came of it.
 * @param {TestOptions} options
 * @returns {Promise<number>} the exit code: 0 only if something ran and nothing failed
 */
export async function runTests(options) {
  ensurePackages({ dev: true })
  const missing = ensureSystemPackages(Object.values(requirements))
  const postgres = await startPostgresIfFound()
  const environment = createTestEnvironment(postgres?.url)
  const interruption = watchInterruption()
  try {
    const { exitCode, output } = await runBun(options, { ...environment.env, ...options.env })
    const leaks = await collectLeaks(environment)
    if (interruption.happened()) return exitCode || 1
    const notRun = [...missing.map(({ name, suites }) => `${suites}: ${name} is not installed`), ...environment.readNotRun()]
    const report = toReport({ exitCode, totals: findTotals(output), notRun, leaks, isCi: process.env.CI === "true" })
    for (const line of report.lines) console.log(line)
    return report.exitCode
  } finally {
    await postgres?.stop()
    environment.remove()
    interruption.stop()
  }
}

/** A server that the caller names is used as it is, so that it can be tested against another version. */
async function startPostgresIfFound() {
  const bin = requirements.postgres.find()
  if (process.env.HAMLET_TEST_POSTGRES_URL || !bin) return undefined
  return await startPostgres({ bin, fsync: false })
}

/** Keeps Ctrl-C from ending this process before it has cleaned up; bun ends by it, and with bun the wait for it. */
function watchInterruption() {
  let hasHappened = false
  const note = () => {
    hasHappened = true
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, note)
  return {
    happened: () => hasHappened,
    stop: () => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.off(signal, note)
    },
  }
}

/**
 * @param {TestOptions} options
 * @param {NodeJS.ProcessEnv} env
 */
async function runBun({ args, silenceMsMax }, env) {
  let output = ""
  /** @type {NodeJS.Timeout | undefined} */
  let silence
  const colour = process.stderr.isTTY ? { FORCE_COLOR: "1" } : {}
  /** @type {import("../child.mjs").SpawnOptions} */
  const options = { cwd: root, env: { ...env, ...colour }, stdio: ["inherit", "inherit", "pipe"] }
  const exitCode = await runInForeground(bun, ["test", ...args], options, (child) => {
    if (silenceMsMax !== undefined) silence = setTimeout(() => endSilent(child, silenceMsMax), silenceMsMax)
    child.stderr?.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      silence?.refresh()
      process.stderr.write(text)
      output = (output + text).slice(-outputCharsKept)
    })
  })
  clearTimeout(silence)
  return { exitCode, output }
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @param {number} silenceMsMax
 */
function endSilent(child, silenceMsMax) {
  console.error(`bun test has said nothing for ${silenceMsMax / 1000} s and is ended; it hangs in the test after the last one named above`)
  child.kill("SIGKILL")
}
