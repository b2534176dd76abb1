import { readdirSync, readFileSync } from "node:fs"
import { GuestProcess } from "./guest-process.ts"

/** A tool has a handful of processes. Further ones are not counted. */
const processesMax = 100

/** What a process and all its descendants use. All 0 where there is no `/proc`. */
export function readTreeUsage(pid: number): {
  readonly memoryBytes: number
  readonly cpuMs: number
} {
  const seen = new Set([pid])
  let [memoryBytes, cpuMs] = [0, 0]
  for (const current of seen) {
    const usage = GuestProcess.find(current)?.readUsage()
    memoryBytes += usage?.memoryBytes ?? 0
    cpuMs += usage?.cpuMs ?? 0
    for (const child of listChildren(current)) if (seen.size < processesMax) seen.add(child)
  }
  return { memoryBytes, cpuMs }
}

/** The process inside of shells and bubblewrap, or the process itself if it has no child. */
export function findInnermost(pid: number): number {
  const [child] = listChildren(pid)
  return child === undefined ? pid : findInnermost(child)
}

/** Kills the innermost processes. Bubblewrap and shells around them end by themselves. */
export function killInnermost(pid: number): void {
  const children = listChildren(pid)
  for (const child of children) killInnermost(child)
  if (children.length > 0) return
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has just ended.
  }
}

function listChildren(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    return threads.flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8")
        .split(" ")
        .filter(Boolean)
        .map(Number),
    )
  } catch {
    // It has ended, or there is no /proc.
    return []
  }
}
