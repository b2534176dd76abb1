import { readdirSync, readFileSync } from "node:fs"
import { setTimeout } from "node:timers/promises"

/**
 * @typedef {{ folders: readonly string[], marker: string }} TestRun folders: those for temporary
 * files; marker: a text in the environment of every process of the run
 * @typedef {{ pid: number, command: string }} Process
 */

/** How long a process may take to end, on a busy machine, before it counts as left behind. */
const graceMsDefault = 20_000
const pollMs = 50

/**
 * Lists the processes and temporary files that tests left behind, and ends the processes.
 * @param {TestRun} run
 * @param {number} [graceMs]
 * @returns {Promise<string[]>}
 */
export async function collectLeaks(run, graceMs = graceMsDefault) {
  const processes = await waitForEnd(run, graceMs)
  for (const { pid } of processes) endProcess(pid)
  const files = run.folders
    .flatMap((folder) => readdirSync(folder))
    .map((name) => `file in the temporary folder: ${name}`)
  return [...processes.map(({ pid, command }) => `process ${pid}: ${command}`), ...files]
}

/**
 * @param {TestRun} run
 * @param {number} graceMs
 */
async function waitForEnd(run, graceMs) {
  const deadline = Date.now() + graceMs
  let processes = listProcesses(run)
  while (processes.length > 0 && Date.now() < deadline) {
    await setTimeout(pollMs)
    processes = listProcesses(run)
  }
  return processes
}

/**
 * Finds sandboxes too: their environment has no marker, but their arguments name files in the
 * temporary folder. Finds nothing without /proc, but the suites that start processes need Linux.
 * @param {TestRun} run
 * @returns {Process[]}
 */
function listProcesses(run) {
  if (process.platform !== "linux") return []
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({
      pid: Number(name),
      command: readProcFile(name, "cmdline"),
      environment: readProcFile(name, "environ"),
    }))
    .filter(
      ({ command, environment }) =>
        environment.includes(run.marker) || run.folders.some((folder) => command.includes(folder)),
    )
    .map(({ pid, command }) => ({ pid, command: command.slice(0, 200) }))
}

/**
 * @param {string} pid
 * @param {string} file
 */
function readProcFile(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8").replaceAll("\0", " ").trim()
  } catch {
    // The process has ended, or belongs to another user.
    return ""
  }
}

/** @param {number} pid */
function endProcess(pid) {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // The process ended by itself in the meantime.
  }
}
