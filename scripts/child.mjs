import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { constants } from "node:os"
import { setTimeout } from "node:timers/promises"

/** @typedef {import("node:child_process").SpawnOptions} SpawnOptions */

const drainMsMax = 500

/** @type {NodeJS.Signals[]} */
const forwardedSignals = ["SIGINT", "SIGTERM", "SIGHUP"]

/**
 * Runs a program in the foreground: it has our terminal, and signals are forwarded to it. Resolves
 * with its exit code; the caller keeps running, so that it can clean up after Ctrl-C.
 * @param {string} command
 * @param {string[]} args
 * @param {SpawnOptions} options
 * @param {(child: import("node:child_process").ChildProcess) => void} [onStart]
 * @param {(child: import("node:child_process").ChildProcess, signal: NodeJS.Signals) => void}
 * [forward]
 * @returns {Promise<number>}
 */
export function runInForeground(command, args, options, onStart, forward = forwardSignal) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: "inherit", ...options })
    const stopForwarding = forwardSignals(child, forward)
    onStart?.(child)
    child.once("error", (error) => {
      stopForwarding()
      console.error(`Cannot start ${command}: ${error.message}`)
      resolve(1)
    })
    child.once("exit", async (code, signal) => {
      stopForwarding()
      await drain(child)
      resolve(code ?? toExitCode(signal))
    })
  })
}

/**
 * Waits for the last output of the program, with a time limit: a process that it left behind keeps
 * the pipe open.
 * @param {import("node:child_process").ChildProcess} child
 */
async function drain({ stderr }) {
  if (!stderr) return
  if (!stderr.readableEnded) await Promise.race([once(stderr, "end"), setTimeout(drainMsMax)])
  stderr.destroy()
}

/** The CPU time of this process and of the children whose end was noticed. */
let countedSeconds = 0

/** The CPU time since it was last called, which is that of a child that has just ended. */
function takeCpuSeconds() {
  const seconds = readCpuSeconds("self")
  if (seconds === undefined) return undefined
  const taken = seconds - countedSeconds
  countedSeconds = seconds
  return taken
}

/**
 * Runs a program that prepares something, and says how long that took. What is not CPU time is mostly
 * the network and the disk.
 * @param {string} name
 * @param {string} command
 * @param {string[]} args
 * @param {SpawnOptions} options
 */
export async function runStep(name, command, args, options) {
  const startedMs = performance.now()
  const ended = await runCaptured(command, args, options)
  console.error(toStepLine(name, performance.now() - startedMs, ended.cpuSeconds))
  return ended
}

/**
 * @param {string} name
 * @param {number} ms
 * @param {number | undefined} cpuSeconds
 */
function toStepLine(name, ms, cpuSeconds) {
  const cpu = cpuSeconds === undefined ? "" : `, ${cpuSeconds.toFixed(1)} s of CPU time`
  return `${name}: ${(ms / 1000).toFixed(1)} s${cpu}`
}

/**
 * Runs a program and captures its output.
 * @param {string} command
 * @param {string[]} args
 * @param {SpawnOptions} options
 * @returns {Promise<{ exitCode: number, output: string, cpuSeconds?: number | undefined }>} output: what
 * it wrote, both streams in the order they came
 */
export function runCaptured(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options })
    /** @type {Buffer[]} */
    const chunks = []
    child.stdout?.on("data", (chunk) => chunks.push(chunk))
    child.stderr?.on("data", (chunk) => chunks.push(chunk))
    child.once("error", (error) =>
      resolve({ exitCode: 1, output: `Cannot start ${command}: ${error.message}\n` }),
    )
    /** @type {number | undefined} */
    let cpuSeconds
    child.once("exit", () => {
      cpuSeconds = takeCpuSeconds()
    })
    child.once("close", (code, signal) => {
      const output = Buffer.concat(chunks).toString()
      resolve({ exitCode: code ?? toExitCode(signal), output, cpuSeconds })
    })
  })
}

/**
 * Runs the server, which stops when the IPC channel to this process closes. Signals are forwarded as
 * SIGTERM, which it treats as one however often it arrives: a terminal or a service manager may send
 * the same signal to both, and a second SIGINT would skip the clean-up.
 * @param {string} command
 * @param {string[]} args
 * @param {SpawnOptions} options
 */
export function runServer(command, args, options) {
  /** @type {SpawnOptions} */
  const withChannel = { ...options, stdio: ["inherit", "inherit", "inherit", "ipc"] }
  return runInForeground(command, args, withChannel, undefined, (child) => child.kill("SIGTERM"))
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @param {NodeJS.Signals} signal
 */
function forwardSignal(child, signal) {
  // A terminal sends Ctrl-C to every foreground process. A second one would skip the clean-up.
  if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal)
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @param {(child: import("node:child_process").ChildProcess, signal: NodeJS.Signals) => void}
 * forward
 */
function forwardSignals(child, forward) {
  /** @param {NodeJS.Signals} signal */
  const onSignal = (signal) => forward(child, signal)
  for (const signal of forwardedSignals) process.on(signal, onSignal)
  return () => {
    for (const signal of forwardedSignals) process.off(signal, onSignal)
  }
}

/** @param {NodeJS.Signals | null} signal */
function toExitCode(signal) {
  // Shells report the end by a signal like this.
  return signal ? 128 + constants.signals[signal] : 1
}

/** The unit of times in /proc; 100 on every architecture of Linux. */
const ticksPerSecond = 100

/**
 * The CPU seconds of a process and of its ended children, as `time` counts them. A child counts from
 * the moment its parent has waited for it: a browser that is killed together with its parent never
 * does.
 * @param {number | "self"} pid
 * @returns {number | undefined} undefined where there is no /proc, and after the process has ended
 */
export function readCpuSeconds(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The second field is the name in parentheses, which may contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number)
    const ticks = (user ?? 0) + (system ?? 0) + (childrenUser ?? 0) + (childrenSystem ?? 0)
    return ticks / ticksPerSecond
  } catch {
    return undefined
  }
}
