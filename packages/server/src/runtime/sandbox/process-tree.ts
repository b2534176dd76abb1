import { readdirSync, readFileSync } from "node:fs"
import { GuestProcess } from "./guest-process.ts"

/** A tool has a handful of processes; whoever has more is looked at no further. */
const processesMax = 100

/** The memory of a process and of all that it has started. */
export function readTreeBytes(pid: number): number {
  const seen = new Set([pid])
  let bytes = 0
  for (const current of seen) {
    bytes += GuestProcess.find(current)?.readUsage()?.memoryBytes ?? 0
    for (const child of listChildren(current)) if (seen.size < processesMax) seen.add(child)
  }
  return bytes
}

function listChildren(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    return threads.flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number))
  } catch {
    // Has ended, or there is no /proc.
    return []
  }
}
