import { runInForeground } from "../child.mjs"
import { startPostgres } from "../postgres.mjs"
import { ensurePackages } from "../setup/packages.mjs"
import { bun, root } from "../setup/root.mjs"
import { ensureSystemPackages, requirements } from "../setup/system-packages.mjs"
import { createTestEnvironment } from "./environment.mjs"
import { collectLeaks } from "./leaks.mjs"
import { createQueue } from "./output-queue.mjs"
import { addEnds, toReport } from "./report.mjs"
import { findTotals } from "./totals.mjs"

/**
 * @typedef {object} TestOptions
 * @property {string[][]} parts the arguments of `bun test` for each of those that run beside each
 * other
 * @property {Record<string, string>} [env]
 * @property {number} [silenceMsMax] a test that never yields is beyond bun's own limit; after this
 * long without a word bun is ended
 */

/** Enough of the end of bun's output to hold its totals. */
const outputCharsKept = 10_000

/**
 * Installs what is missing, runs `bun test` with a PostgreSQL of its own and says what came of it.
 * Parts run beside each other, each with temporary files of its own; what they print comes one part
 * after the other.
 * @param {TestOptions} options
 * @returns {Promise<number>} the exit code: 0 only if something ran and nothing failed
 */
export async function runTests({ parts, env, silenceMsMax }) {
  ensurePackages({ dev: true })
  const missing = ensureSystemPackages(Object.values(requirements))
  const postgres = await startPostgresIfFound()
  const interruption = watchInterruption()
  const queue = createQueue(parts.length, (text) => process.stderr.write(text))
  try {
    const ends = await Promise.all(
      parts.map((args, index) =>
        runPart(
          { args, silenceMsMax, write: queue[index] ?? (() => {}) },
          { ...env },
          postgres?.url,
        ),
      ),
    )
    const { exitCode, totals, notRun, leaks } = addEnds(ends)
    if (interruption.happened()) return exitCode || 1
    const report = toReport({
      exitCode,
      totals,
      notRun: [
        ...missing.map(({ name, suites }) => `${suites}: ${name} is not installed`),
        ...notRun,
      ],
      leaks,
      isCi: process.env.CI === "true",
    })
    for (const line of report.lines) console.log(line)
    return report.exitCode
  } finally {
    await postgres?.stop()
    interruption.stop()
  }
}

/**
 * @param {PartOptions} options
 * @param {Record<string, string>} env
 * @param {string | undefined} postgresUrl
 */
async function runPart(options, env, postgresUrl) {
  const environment = createTestEnvironment(postgresUrl)
  try {
    const { exitCode, output } = await runBun(options, { ...environment.env, ...env })
    options.write(undefined)
    return {
      exitCode,
      totals: findTotals(output),
      leaks: await collectLeaks(environment),
      notRun: environment.readNotRun(),
    }
  } finally {
    environment.remove()
  }
}

/**
 * A server that the caller names is used as it is, so that it can be tested against another
 * version.
 */
async function startPostgresIfFound() {
  const bin = requirements.postgres.find()
  if (process.env.HAMLET_TEST_POSTGRES_URL || !bin) return undefined
  return await startPostgres({ bin, fsync: false })
}

/**
 * Keeps Ctrl-C from ending this process before it has cleaned up; bun ends by it, and with bun the
 * wait for it.
 */
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
 * @typedef {object} PartOptions
 * @property {string[]} args
 * @property {number | undefined} silenceMsMax
 * @property {import("./output-queue.mjs").Write} write
 */

/**
 * @param {PartOptions} options
 * @param {NodeJS.ProcessEnv} env
 */
async function runBun({ args, silenceMsMax, write }, env) {
  let output = ""
  /** @type {NodeJS.Timeout | undefined} */
  let silence
  const colour = process.stderr.isTTY ? { FORCE_COLOR: "1" } : {}
  /** @type {import("../child.mjs").SpawnOptions} */
  const options = { cwd: root, env: { ...env, ...colour }, stdio: ["inherit", "inherit", "pipe"] }
  const exitCode = await runInForeground(bun, ["test", ...args], options, (child) => {
    if (silenceMsMax !== undefined)
      silence = setTimeout(() => endSilent(child, silenceMsMax), silenceMsMax)
    child.stderr?.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      silence?.refresh()
      write(text)
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
  console.error(
    `bun test has said nothing for ${silenceMsMax / 1000} s and is ended; it hangs in the test after the last one named above`,
  )
  child.kill("SIGKILL")
}
