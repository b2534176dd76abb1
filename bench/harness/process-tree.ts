import { readdirSync, readFileSync } from "node:fs"

/** The memory of a process and its descendants, in millions of bytes. */
export interface TreeMemory {
  /** Pages in memory; a shared page counts once for each process. */
  readonly residentMb: number
  /**
   * Pages in memory, with shared ones divided among the processes. Unknown for processes of other
   * users, unless we are root.
   */
  readonly proportionalMb: number | undefined
}

/**
 * The memory of all descendants of a process, without the process itself. Linux only.
 */
export function measureDescendants(pid: number): TreeMemory {
  const pids = listDescendants(pid)
  const proportional = pids.map((descendant) =>
    readKilobytes(`/proc/${descendant}/smaps_rollup`, "Pss"),
  )
  const isKnown = proportional.every((kilobytes) => kilobytes !== undefined)
  return {
    residentMb: toMb(
      sum(pids.map((descendant) => readKilobytes(`/proc/${descendant}/status`, "VmRSS") ?? 0)),
    ),
    proportionalMb: isKnown
      ? toMb(sum(proportional.map((kilobytes) => kilobytes ?? 0)))
      : undefined,
  }
}

/** The CPU time of a process and its descendants so far, in milliseconds. Linux only. */
export function cpuMsOf(pid: number): number {
  return sum([pid, ...listDescendants(pid)].map(readCpuMs))
}

/** With that of its children that have ended. Linux counts in hundredths of a second. */
function readCpuMs(pid: number): number {
  return sum(readStat(pid).slice(11, 15).map(Number)) * 10
}

/** The resident memory of one process, in millions of bytes. */
export function residentMbOf(pid: number): number {
  // For a process that has ended, `ps` prints nothing, which is not a number.
  const fromPs = () =>
    Number.parseInt(`${Bun.spawnSync(["ps", "-o", "rss=", "-p", String(pid)]).stdout}`, 10)
  return toMb(readKilobytes(`/proc/${pid}/status`, "VmRSS") ?? fromPs())
}

/** The CPU time of one process, without its children, in seconds. */
export function readCpuSeconds(pid: number): number {
  return sum(readStat(pid).slice(11, 13).map(Number)) / 100
}

/** The memory available for new processes, in millions of bytes. */
export function availableMb(): number {
  return toMb(readKilobytes("/proc/meminfo", "MemAvailable") ?? Number.NaN)
}

function listDescendants(root: number): readonly number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync("/proc")) {
    const pid = Number(name)
    const parent = Number.isInteger(pid) ? readParent(pid) : undefined
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  const found: number[] = []
  const visit = (pid: number) => {
    for (const child of children.get(pid) ?? []) {
      found.push(child)
      visit(child)
    }
  }
  visit(root)
  return found
}

function readParent(pid: number): number | undefined {
  const [, parent] = readStat(pid)
  return parent === undefined ? undefined : Number(parent)
}

/**
 * The fields after the name of a process, which may contain spaces and brackets; none if it has
 * ended.
 */
function readStat(pid: number): readonly string[] {
  const stat = read(`/proc/${pid}/stat`) ?? ""
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")
}

function readKilobytes(path: string, field: string): number | undefined {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(read(path) ?? "")?.[1]
  return found === undefined ? undefined : Number(found)
}

/** Undefined for a process that has ended meanwhile, or that we may not read. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function toMb(kilobytes: number): number {
  return (kilobytes * 1_024) / 1e6
}
