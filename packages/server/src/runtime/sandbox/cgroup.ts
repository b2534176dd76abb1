import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Controller } from "./cgroup-mounts.ts"
import type { SandboxLimits } from "./sandbox-limits.ts"

/** Where each controller has the group. */
export type CgroupFolders = Readonly<Partial<Record<Controller, { readonly version: 1 | 2; readonly folder: string }>>>

/** Threads beside the guest's own: bubblewrap's process outside, and the shell before it. */
const helperThreads = 4

/** The control group of one sandbox. */
export class Cgroup {
  readonly #folders: CgroupFolders

  private constructor(folders: CgroupFolders) {
    this.#folders = folders
  }

  static create(folders: CgroupFolders, limits: SandboxLimits): Cgroup {
    const group = new Cgroup(folders)
    try {
      for (const folder of group.#unique()) mkdirSync(folder)
      group.#limit(limits)
    } catch (error) {
      group.remove()
      throw error
    }
    return group
  }

  /** The files to which a process writes its number to join. */
  get joinPaths(): string[] {
    return this.#unique().map((folder) => join(folder, "cgroup.procs"))
  }

  has(controller: Controller): boolean {
    return this.#folders[controller] !== undefined
  }

  /** Without the pages of files, which the kernel takes back when somebody needs them. */
  readMemoryBytes(): number | undefined {
    const memory = this.#folders.memory
    if (!memory) return undefined
    const used = readNumber(join(memory.folder, memory.version === 1 ? "memory.usage_in_bytes" : "memory.current"))
    const stat = readText(join(memory.folder, "memory.stat"))
    const fileBytes = readField(stat, "inactive_file") + readField(stat, "active_file")
    return used === undefined ? undefined : Math.max(0, used - fileBytes)
  }

  /** Pages of files included. Undefined where the kernel does not remember. */
  readPeakBytes(): number | undefined {
    const memory = this.#folders.memory
    return memory && readNumber(join(memory.folder, memory.version === 1 ? "memory.max_usage_in_bytes" : "memory.peak"))
  }

  readCpuMs(): number | undefined {
    const { cpu, cpuacct } = this.#folders
    if (cpuacct) {
      const nanoseconds = readNumber(join(cpuacct.folder, "cpuacct.usage"))
      return nanoseconds === undefined ? undefined : nanoseconds / 1e6
    }
    if (cpu?.version !== 2) return undefined
    const microseconds = readField(readText(join(cpu.folder, "cpu.stat")), "usage_usec", Number.NaN)
    return Number.isNaN(microseconds) ? undefined : microseconds / 1e3
  }

  /** Whether the kernel has killed something here because there was no memory left within the limit. */
  wasOutOfMemory(): boolean {
    const memory = this.#folders.memory
    if (!memory) return false
    return readField(readText(join(memory.folder, memory.version === 1 ? "memory.oom_control" : "memory.events")), "oom_kill") > 0
  }

  /** Whether the kernel has refused a new thread or process here. */
  wasOutOfProcesses(): boolean {
    const pids = this.#folders.pids
    return pids !== undefined && readField(readText(join(pids.folder, "pids.events")), "max") > 0
  }

  /** Idle gets what nobody else wants. False where there is no say in it. */
  setIdle(isIdle: boolean): boolean {
    const cpu = this.#folders.cpu
    if (!cpu) return false
    const idlePath = join(cpu.folder, "cpu.idle")
    // Since Linux 5.15; before that, the smallest share comes close.
    if (existsSync(idlePath)) return write(idlePath, isIdle ? 1 : 0)
    return cpu.version === 1
      ? write(join(cpu.folder, "cpu.shares"), isIdle ? 2 : 1024)
      : write(join(cpu.folder, "cpu.weight"), isIdle ? 1 : 100)
  }

  /** Kills every process in it; gives how many there were. */
  kill(): number {
    return this.#unique().reduce((count, folder) => count + killGroup(folder), 0)
  }

  /** False while something is still in it. */
  remove(): boolean {
    return this.#unique().map(removeGroup).every(Boolean)
  }

  #unique(): string[] {
    return [...new Set(Object.values(this.#folders).map(({ folder }) => folder))]
  }

  #limit(limits: SandboxLimits): void {
    const { memory, pids } = this.#folders
    if (memory?.version === 1) {
      writeFileSync(join(memory.folder, "memory.limit_in_bytes"), String(limits.memoryBytesMax))
      // Missing where the kernel does not count swap; then there is nothing to limit.
      const swapPath = join(memory.folder, "memory.memsw.limit_in_bytes")
      if (existsSync(swapPath)) writeFileSync(swapPath, String(limits.memoryBytesMax))
    } else if (memory) {
      writeFileSync(join(memory.folder, "memory.max"), String(limits.memoryBytesMax))
      const swapPath = join(memory.folder, "memory.swap.max")
      if (existsSync(swapPath)) writeFileSync(swapPath, "0")
      write(join(memory.folder, "memory.oom.group"), 1)
    }
    if (pids) writeFileSync(join(pids.folder, "pids.max"), String(limits.threadsMax + helperThreads))
  }
}

/** Kills every process of the group in that folder; gives how many there were. */
export function killGroup(folder: string): number {
  // Version 2 since Linux 5.14: at once, and nothing can be born meanwhile.
  const killPath = join(folder, "cgroup.kill")
  const pids = readText(join(folder, "cgroup.procs")).split("\n").map(Number).filter(isVisible)
  if (pids.length === 0 || (existsSync(killPath) && write(killPath, 1))) return pids.length
  for (const pid of pids) killProcess(pid)
  return pids.length
}

/** A process of another pid namespace is listed as 0, and a kill of 0 would be ours. */
function isVisible(pid: number): boolean {
  return pid > 0
}

/** False while something is still in it. */
export function removeGroup(folder: string): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT"
  }
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // Has just ended by itself.
  }
}

function write(path: string, value: number): boolean {
  try {
    writeFileSync(path, String(value))
    return true
  } catch {
    return false
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

function readNumber(path: string): number | undefined {
  const text = readText(path)
  return text === "" ? undefined : Number(text)
}

/** The number in a line `name number`. */
function readField(text: string, name: string, otherwise = 0): number {
  const at = text.startsWith(`${name} `) ? 0 : text.indexOf(`\n${name} `) + 1
  if (at === 0 && !text.startsWith(`${name} `)) return otherwise
  return Number.parseInt(text.slice(at + name.length + 1), 10)
}
