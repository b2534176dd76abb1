// What the tests of the parsers share.
import { readdirSync, readFileSync } from "node:fs"

/** The ids of the living parser processes that a process has started. */
export function listParsers(parentPid: number): number[] {
  return listNumbers("/proc").filter((pid) => readParentPid(pid) === parentPid && readProc(pid, "cmdline").includes("parser-main.ts"))
}

/** The names of the variables in a process's environment. */
export function readEnvironment(pid: number): string[] {
  return readProc(pid, "environ")
    .split("\0")
    .map((entry) => entry.replace(/=.*/s, ""))
}

/** Lets everything else go on until the condition holds; the time limit of the test is the only one. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate)
}

function listNumbers(folder: string): number[] {
  return readdirSync(folder).map(Number).filter(Number.isInteger)
}

function readParentPid(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readProc(pid, "status"))?.[1])
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8")
  } catch {
    // Ended since it was listed.
    return ""
  }
}
