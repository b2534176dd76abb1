import { rmSync } from "node:fs"
import { join } from "node:path"
import { readCpuSeconds, runCaptured, runInForeground } from "../child.mjs"
import { startPostgres } from "../postgres.mjs"
import { leaveOutNeeding } from "../setup/needs.mjs"
import { ensurePackages } from "../setup/packages.mjs"
import { bun, root } from "../setup/root.mjs"
import { ensureSystemPackages, requirements } from "../setup/system-packages.mjs"
import { createCpuMeter, toCpuLines } from "./cpu-time.mjs"
import { createTestEnvironment } from "./environment.mjs"
import { createFailureCollector } from "./failures.mjs"
import { collectLeaks } from "./leaks.mjs"
import { createQueue } from "./output-queue.mjs"
import { addEnds, toReport } from "./report.mjs"
import { findTotals, withoutColours } from "./totals.mjs"

/**
 * @typedef {import("../setup/needs.mjs").Part} Part one `bun test`
 * @typedef {object} TestOptions
 * @property {Part[]} parts
 * @property {number} [partsAtOnce] how many of them run at the same time; 1 by default
 * @property {Record<string, string>} [env]
 * @property {number} [silenceMsMax] bun cannot time out a test that never yields; after this long
 * without output it is killed
 * @property {boolean} [isCpuDetailed] ends with the CPU time of every file
 */

/** Enough of the end of bun's output to hold its totals. */
const outputCharsKept = 10_000
const linesOfEarlyEnd = 60

/**
 * Installs what is missing, runs `bun test` with a PostgreSQL of its own and prints the result. Each
 * part has temporary files of its own; the output of the parts is printed in their order.
 * @param {TestOptions} options
 * @returns {Promise<number>} the exit code: 0 only if something ran and nothing failed
 */
export async function runTests({ parts, partsAtOnce = 1, env, silenceMsMax, isCpuDetailed }) {
  const [missing] = await Promise.all([
    ensureSystemPackages(Object.values(requirements)),
    ensurePackages({ dev: true }),
  ])
  const { parts: possible, leftOut } = leaveOutNeeding(
    root,
    parts,
    missing.map(({ debianPackage }) => debianPackage),
  )
  const [postgres, server] = await Promise.all([startPostgresIfFound(), bundleServer()])
  /** Tells suites that the server goes away, so that they need not drop the template database. */
  const temporary = postgres && { HAMLET_TEST_POSTGRES_TEMPORARY: "yes" }
  const ofAll = { ...temporary, HAMLET_TEST_SERVER: server.program, ...env }
  const interruption = watchInterruption()
  const queue = createQueue(possible.length, (text) => process.stderr.write(text))
  try {
    const ends = await mapConcurrently(
      possible,
      partsAtOnce,
      async ({ args, env: ofPart }, index) => {
        const write = queue[index] ?? (() => {})
        if (!interruption.happened())
          return runPart({ args, silenceMsMax, write }, { ...ofAll, ...ofPart }, postgres?.url)
        write(undefined)
        return { exitCode: 1, totals: undefined, notRun: [], leaks: [], failures: [], cpu: [] }
      },
    )
    const { exitCode, totals, notRun, leaks, failures } = addEnds(ends)
    if (interruption.happened()) return exitCode || 1
    const cpu = new Map(ends.flatMap((end) => end.cpu))
    for (const line of toCpuLines(readCpuSeconds("self"), cpu, isCpuDetailed)) console.log(line)
    const report = toReport({
      exitCode,
      totals,
      notRun: [
        ...missing.map(({ name, suites }) => `${suites}: ${name} is not installed`),
        ...leftOut,
        ...notRun,
      ],
      leaks,
      failures,
      isCi: process.env.CI === "true",
    })
    for (const line of report.lines) console.log(line)
    return report.exitCode
  } finally {
    await postgres?.stop()
    server.remove()
    interruption.stop()
  }
}

/**
 * Works on `atOnce` items at a time, in their order.
 * @template Item, Result
 * @param {readonly Item[]} items
 * @param {number} atOnce
 * @param {(item: Item, index: number) => Promise<Result>} work
 * @returns {Promise<Result[]>}
 */
async function mapConcurrently(items, atOnce, work) {
  /** @type {Result[]} */
  const results = []
  const waiting = items.entries()
  const takeNext = async () => {
    for (const [index, item] of waiting) results[index] = await work(item, index)
  }
  await Promise.all(Array.from({ length: atOnce }, takeNext))
  return results
}

/**
 * @param {PartOptions} options
 * @param {Record<string, string>} env
 * @param {string | undefined} postgresUrl
 */
async function runPart(options, env, postgresUrl) {
  const environment = createTestEnvironment(postgresUrl)
  try {
    const { exitCode, output, failures, cpu } = await runBun(options, {
      ...environment.env,
      ...env,
    })
    options.write(undefined)
    const totals = findTotals(output)
    return {
      exitCode,
      totals,
      cpu,
      failures: totals ? failures : [...failures, toEarlyEnd(output)],
      leaks: await collectLeaks(environment),
      notRun: environment.readNotRun(),
    }
  } finally {
    environment.remove()
  }
}

/**
 * The last lines of a run that ended in the middle of a test.
 * @param {string} output
 * @returns {import("./failures.mjs").Failure}
 */
function toEarlyEnd(output) {
  const lines = withoutColours(output).trimEnd().split("\n")
  return {
    title: "bun ended before the tests did; its last lines",
    lines: lines.slice(-linesOfEarlyEnd),
  }
}

/** Uses the server that the environment names, if any, to test against another version. */
async function startPostgresIfFound() {
  const bin = requirements.postgres.find()
  if (process.env.HAMLET_TEST_POSTGRES_URL || !bin) return undefined
  return await startPostgres({ bin, fsync: false })
}

/** The program of the server as suites start it. */
async function bundleServer() {
  // Inside of the checkout, where it finds packages.
  const folder = join(root, "dist", `test-${process.pid}`)
  const entry = join(root, "packages", "server", "src", "main.ts")
  const args = [join(root, "scripts", "testing", "bundle-server.ts"), entry, folder]
  const { exitCode, output } = await runCaptured(bun, args, { cwd: root, env: process.env })
  if (exitCode !== 0) throw new Error(`Cannot bundle the server: ${output}`)
  return {
    program: join(folder, "main.js"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/**
 * Keeps Ctrl-C from ending this process before it has cleaned up. bun ends by the same signal, and
 * then this process goes on.
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
  const { failures, file, read } = createFailureCollector()
  /** @type {number | undefined} */
  let pid
  const meter = createCpuMeter(() => (pid === undefined ? undefined : readCpuSeconds(pid)))
  /** @type {NodeJS.Timeout | undefined} */
  let silence
  const colour = process.stderr.isTTY ? { FORCE_COLOR: "1" } : {}
  /** @type {import("../child.mjs").SpawnOptions} */
  const options = { cwd: root, env: { ...env, ...colour }, stdio: ["inherit", "inherit", "pipe"] }
  const exitCode = await runInForeground(bun, ["test", ...args], options, (child) => {
    pid = child.pid
    if (silenceMsMax !== undefined)
      silence = setTimeout(() => endSilent(child, silenceMsMax), silenceMsMax)
    child.stderr?.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      silence?.refresh()
      write(text)
      meter.addTo(file())
      read(text)
      output = (output + text).slice(-outputCharsKept)
    })
  })
  clearTimeout(silence)
  return { exitCode, output, failures, cpu: [...meter.secondsByFile] }
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @param {number} silenceMsMax
 */
function endSilent(child, silenceMsMax) {
  console.error(
    `bun test has printed nothing for ${silenceMsMax / 1000} s and is killed; it hangs in the test after the last one named above`,
  )
  child.kill("SIGKILL")
}
