import { readdirSync, readFileSync } from "node:fs"

/** A process, told apart from a later one with the same number. */
export interface ProcessInfo {
  readonly pid: number
  readonly parent: number
  readonly startedTicks: number
  readonly command: readonly string[]
}

/** Every descendant of `pid`, in any namespace. */
export function listDescendants(pid: number): readonly ProcessInfo[] {
  const all = listProcesses()
  const found: Omit<ProcessInfo, "command">[] = []
  const parents = new Set([pid])
  // Parents have lower numbers most of the time, but not always: numbers come round.
  for (let before = -1; before !== found.length; ) {
    before = found.length
    for (const seen of all) {
      if (!parents.has(seen.parent) || parents.has(seen.pid)) continue
      parents.add(seen.pid)
      found.push(seen)
    }
  }
  return found.map((seen) => ({
    ...seen,
    command: readText(`/proc/${seen.pid}/cmdline`).split("\0").slice(0, -1),
  }))
}

/**
 * Whether this very process is still there; one that has ended and was not noticed by its parent is
 * not.
 */
export function isRunning({
  pid,
  startedTicks,
}: Pick<ProcessInfo, "pid" | "startedTicks">): boolean {
  return readStat(pid)?.startedTicks === startedTicks
}

/** Memory of a process that is in RAM. */
export function readResidentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readText(`/proc/${pid}/status`))?.[1]
  if (kilobytes === undefined)
    throw new Error(`Cannot read the memory of process ${pid}: it has ended`)
  return Number(kilobytes) * 1024
}

/** Open files of a process. */
export function countOpenFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** A file of /proc or none. */
export function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

function listProcesses(): readonly Omit<ProcessInfo, "command">[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const pid = Number(name)
      const stat = readStat(pid)
      return stat ? [{ pid, ...stat }] : []
    })
}

function readStat(
  pid: number,
): { readonly parent: number; readonly startedTicks: number } | undefined {
  const text = readText(`/proc/${pid}/stat`)
  const [state = "Z", parent = "0", ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ")
  return text === "" || state === "Z" || state === "X"
    ? undefined
    : { parent: Number(parent), startedTicks: Number(rest[17]) }
}
