import { readFileSync, readlinkSync } from "node:fs"

/**
 * A text that means one process and no other, now or later: a number alone is given to somebody
 * else as soon as its process is gone. Undefined when there is no such process. Where there is no
 * /proc it is the number alone.
 *
 * `{pid}-{when it started, in ticks since the machine did}-{pid namespace}-{this start of the
 * machine}`, short since it is a part of the addresses of sockets, which may not be long.
 */
export function identityOf(pid: number): string | undefined {
  if (process.platform !== "linux") return hasProcess(pid) ? String(pid) : undefined
  const startedTicks = readProcessStat(pid)?.startedTicks
  return startedTicks === undefined
    ? undefined
    : [pid, startedTicks.toString(36), readPidNamespace(), readBootId()].join("-")
}

/**
 * Whether the process still runs. Only for identities of this machine. One from another pid
 * namespace, as of a container that shares our temporary folder, cannot be seen from here and
 * counts as alive: it is better to leave something behind than to take it from the living.
 */
export function isAlive(identity: string): boolean {
  const [pid, , pidNamespace, bootId] = identity.split("-")
  if (process.platform !== "linux") return hasProcess(Number(pid))
  if (bootId !== readBootId()) return false
  return pidNamespace !== readPidNamespace() || identityOf(Number(pid)) === identity
}

/** The number in an identity. */
export function pidOf(identity: string): number {
  return Number.parseInt(identity, 10)
}

/** What the kernel says about a living process. */
export interface ProcessStat {
  /** On a processor, or waiting for one. */
  readonly isRunnable: boolean
  readonly startedTicks: number
  readonly cpuTicks: number
  readonly threads: number
  readonly memoryPages: number
}

/**
 * Undefined when there is no such process, also when it has ended and its parent has not noticed
 * yet. Of a thread, if one is named.
 */
export function readProcessStat(pid: number, thread?: string): ProcessStat | undefined {
  const text = readText(
    thread === undefined ? `/proc/${pid}/stat` : `/proc/${pid}/task/${thread}/stat`,
  )
  return text === undefined ? undefined : parseProcessStat(text)
}

/**
 * Reads a line of /proc/PID/stat. The program's name comes first, in brackets, and may have
 * anything in it.
 */
export function parseProcessStat(text: string): ProcessStat | undefined {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  const [state = "Z"] = fields
  if (state === "Z" || state === "X") return undefined
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
  pidNamespace ??= Number(/\d+/.exec(readLink("/proc/self/ns/pid"))?.[0] ?? 0)
    .toString(36)
    .slice(-4)
  return pidNamespace
}

function readBootId(): string {
  bootId ??= (readText("/proc/sys/kernel/random/boot_id") ?? "0").slice(0, 4).trim()
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

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ""
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}
