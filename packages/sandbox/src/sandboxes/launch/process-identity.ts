import { readFileSync, readlinkSync } from "node:fs"
import { tryReadText } from "@hamlet/kit"

/**
 * A text that identifies one process for ever: a process id alone is reused. Undefined when there
 * is no such process. Without /proc it is the process id alone. Throws when this process has no free
 * descriptor.
 *
 * `{pid}-{start time, in ticks since boot}-{pid namespace}-{boot id}`. It is short, because it is
 * part of the paths of sockets, whose length is limited.
 */
export function identityOf(pid: number): string | undefined {
  if (process.platform !== "linux") return hasProcess(pid) ? String(pid) : undefined
  const startedTicks = parseProcessStat(readFact(`/proc/${pid}/stat`))?.startedTicks
  return startedTicks === undefined
    ? undefined
    : [pid, startedTicks.toString(36), readPidNamespace(), readBootId()].join("-")
}

/**
 * Whether the process may still run. Only for identities of this machine. A process of another pid
 * namespace, for example of a container that shares the temporary folder, cannot be seen and counts
 * as alive: leaving files behind is better than removing those of a live server. So does one that
 * cannot be looked up, because this process has no free descriptor.
 */
export function isAlive(identity: string): boolean {
  return lookUp(identity) !== "ended"
}

/** Whether the process certainly runs, so that its id is not that of another one. */
export function isCertainlyAlive(identity: string): boolean {
  return lookUp(identity) === "alive"
}

function lookUp(identity: string): "alive" | "ended" | "unknown" {
  const [pid, , pidNamespace, bootId] = identity.split("-")
  try {
    if (process.platform !== "linux") return hasProcess(Number(pid)) ? "alive" : "ended"
    if (bootId !== readBootId()) return "ended"
    if (pidNamespace !== readPidNamespace()) return "unknown"
    return identityOf(Number(pid)) === identity ? "alive" : "ended"
  } catch {
    return "unknown"
  }
}

/** The process id in an identity. */
export function pidOf(identity: string): number {
  return Number.parseInt(identity, 10)
}

/** Kills a process that may have ended. */
export function killIfAlive(pid: number): void {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // The process has just ended.
  }
}

/** What the kernel reports about a live process. */
export interface ProcessStat {
  /** Whether the process runs on a core, or waits for one. */
  readonly isRunnable: boolean
  readonly startedTicks: number
  readonly cpuTicks: number
  readonly threads: number
  readonly memoryPages: number
}

/**
 * Reads what the kernel reports about a process, or one of its threads. Undefined when it has
 * ended; a zombie has ended.
 */
export function readProcessStat(pid: number, thread?: string): ProcessStat | undefined {
  return parseProcessStat(
    tryReadText(thread === undefined ? `/proc/${pid}/stat` : `/proc/${pid}/task/${thread}/stat`),
  )
}

/** Parses /proc/PID/stat. The program's name, in brackets, may contain any character. */
export function parseProcessStat(text: string): ProcessStat | undefined {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  const [state] = fields
  if (state === "" || state === "Z" || state === "X") return undefined
  const at = (index: number) => Number(fields[index])
  return {
    isRunnable: state === "R",
    cpuTicks: at(11) + at(12),
    threads: at(17),
    startedTicks: at(19),
    memoryPages: at(21),
  }
}

function readPidNamespace(): string {
  pidNamespace ??= Number(/\d+/.exec(tryFact(() => readlinkSync("/proc/self/ns/pid")))?.[0] ?? 0)
    .toString(36)
    .slice(-4)
  return pidNamespace
}

function readBootId(): string {
  bootId ??= (readFact("/proc/sys/kernel/random/boot_id") || "0").slice(0, 4).trim()
  return bootId
}

let pidNamespace: string | undefined
let bootId: string | undefined

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** Absent: the process has ended, or this system has no such file, or shows it to other users only. */
const absentCodes: ReadonlySet<string | undefined> = new Set([
  "ENOENT",
  "ESRCH",
  "ENOTDIR",
  "EACCES",
  "EPERM",
])

function readFact(path: string): string {
  return tryFact(() => readFileSync(path, "utf8"))
}

/**
 * Empty for a file that is absent. Throws when that is unknown: without a free descriptor, a live
 * process looks like one that has ended.
 */
function tryFact(read: () => string): string {
  try {
    return read()
  } catch (error) {
    if (absentCodes.has((error as NodeJS.ErrnoException).code)) return ""
    throw error
  }
}
