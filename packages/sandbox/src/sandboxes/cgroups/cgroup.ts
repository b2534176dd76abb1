import { existsSync, writeFileSync } from "node:fs"
import { mkdir, rmdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { tryReadText } from "@hamlet/kit"
import { killIfAlive } from "../launch/process-identity.ts"
import type { SandboxLimits } from "../sandbox-limits.ts"
import type { Controller } from "./cgroup-mounts.ts"

/** The folder of the group for each controller. */
export type CgroupFolders = Readonly<
  Partial<Record<Controller, { readonly version: 1 | 2; readonly folder: string }>>
>

/** Threads that are not the guest's: bubblewrap's outer process, and the shell before it. */
const helperThreads = 4
const lowWeightDivisor = 20
const removeMsMax = 1_000
const removeRetryMs = 2

/** The control group of one sandbox. */
export class Cgroup {
  readonly #folders: CgroupFolders

  private constructor(folders: CgroupFolders) {
    this.#folders = folders
  }

  /** Asynchronous, because the kernel creates and removes one group at a time, and may block. */
  static async create(folders: CgroupFolders, limits: SandboxLimits): Promise<Cgroup> {
    const group = new Cgroup(folders)
    try {
      for (const folder of group.#unique()) await mkdir(folder)
      await group.#limit(limits)
    } catch (error) {
      await group.remove()
      throw error
    }
    return group
  }

  /** The files to which a process writes its id to join. */
  get joinPaths(): string[] {
    return this.#unique().map((folder) => join(folder, "cgroup.procs"))
  }

  has(controller: Controller): boolean {
    return this.#folders[controller] !== undefined
  }

  /** Without the page cache, which the kernel frees when memory is needed. */
  readMemoryBytes(): number | undefined {
    const memory = this.#folders.memory
    if (!memory) return undefined
    const used = readNumber(
      join(memory.folder, memory.version === 1 ? "memory.usage_in_bytes" : "memory.current"),
    )
    const stat = tryReadText(join(memory.folder, "memory.stat"))
    const fileBytes = readField(stat, "inactive_file") + readField(stat, "active_file")
    return used === undefined ? undefined : Math.max(0, used - fileBytes)
  }

  /** The peak, page cache included. Undefined where the kernel does not record it. */
  readPeakBytes(): number | undefined {
    const memory = this.#folders.memory
    return (
      memory &&
      readNumber(
        join(memory.folder, memory.version === 1 ? "memory.max_usage_in_bytes" : "memory.peak"),
      )
    )
  }

  readCpuMs(): number | undefined {
    const { cpu, cpuacct } = this.#folders
    if (cpuacct) {
      const nanoseconds = readNumber(join(cpuacct.folder, "cpuacct.usage"))
      return nanoseconds === undefined ? undefined : nanoseconds / 1e6
    }
    if (cpu?.version !== 2) return undefined
    const microseconds = readField(
      tryReadText(join(cpu.folder, "cpu.stat")),
      "usage_usec",
      Number.NaN,
    )
    return Number.isNaN(microseconds) ? undefined : microseconds / 1e3
  }

  /** Whether the kernel has killed a process here because of the memory limit. */
  wasOutOfMemory(): boolean {
    const memory = this.#folders.memory
    if (!memory) return false
    return (
      readField(
        tryReadText(
          join(memory.folder, memory.version === 1 ? "memory.oom_control" : "memory.events"),
        ),
        "oom_kill",
      ) > 0
    )
  }

  /** Whether the kernel has refused a new thread or process here. */
  wasOutOfProcesses(): boolean {
    const pids = this.#folders.pids
    return pids !== undefined && readField(tryReadText(join(pids.folder, "pids.events")), "max") > 0
  }

  /**
   * A low weight is a twentieth of the normal one. Returns false where weights are not available.
   * The `cpu.idle` of Linux does not work here: the scheduler takes a core with only idle groups
   * for a free one, and puts quick work there, behind them.
   */
  setWeight(weight: "normal" | "low"): boolean {
    const cpu = this.#folders.cpu
    if (!cpu) return false
    const [file, normal] =
      cpu.version === 1 ? (["cpu.shares", 1024] as const) : (["cpu.weight", 100] as const)
    return write(
      join(cpu.folder, file),
      weight === "normal" ? normal : Math.round(normal / lowWeightDivisor),
    )
  }

  /** The processes in it that are visible from this pid namespace. */
  listPids(): number[] {
    return listGroupPids(this.#unique()[0] ?? "")
  }

  /** Kills every process in it. Returns their number. */
  kill(): number {
    return this.#unique().reduce((count, folder) => count + killGroup(folder), 0)
  }

  /** Returns false while a process is still in it. */
  async remove(): Promise<boolean> {
    return (await Promise.all(this.#unique().map(removeGroup))).every(Boolean)
  }

  /** Retries, because the kernel may keep it for a moment after its processes are gone. */
  async removeSoon(): Promise<void> {
    const deadlineMs = performance.now() + removeMsMax
    while (!(await this.remove()) && performance.now() < deadlineMs) await Bun.sleep(removeRetryMs)
  }

  #unique(): string[] {
    return [...new Set(Object.values(this.#folders).map(({ folder }) => folder))]
  }

  async #limit(limits: SandboxLimits): Promise<void> {
    const { memory, pids } = this.#folders
    if (memory?.version === 1) {
      await writeFile(join(memory.folder, "memory.limit_in_bytes"), String(limits.memoryBytesMax))
      // Missing where the kernel does not account for swap.
      const swapPath = join(memory.folder, "memory.memsw.limit_in_bytes")
      if (existsSync(swapPath)) await writeFile(swapPath, String(limits.memoryBytesMax))
    } else if (memory) {
      await writeFile(join(memory.folder, "memory.max"), String(limits.memoryBytesMax))
      const swapPath = join(memory.folder, "memory.swap.max")
      if (existsSync(swapPath)) await writeFile(swapPath, "0")
      write(join(memory.folder, "memory.oom.group"), 1)
    }
    if (pids)
      await writeFile(join(pids.folder, "pids.max"), String(limits.threadsMax + helperThreads))
  }
}

/** Kills every process of the group in that folder. Returns their number. */
export function killGroup(folder: string): number {
  // Version 2 since Linux 5.14: kills all at once, so that none can start another meanwhile.
  const killPath = join(folder, "cgroup.kill")
  const pids = listGroupPids(folder)
  if (pids.length === 0 || (existsSync(killPath) && write(killPath, 1))) return pids.length
  for (const pid of pids) killIfAlive(pid)
  return pids.length
}

function listGroupPids(folder: string): number[] {
  return tryReadText(join(folder, "cgroup.procs")).split("\n").map(Number).filter(isVisible)
}

/** A process of another pid namespace is listed as 0, and `kill 0` would kill the server. */
function isVisible(pid: number): boolean {
  return pid > 0
}

/** Returns false while a process is still in it. */
export async function removeGroup(folder: string): Promise<boolean> {
  try {
    await rmdir(folder)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT"
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

function readNumber(path: string): number | undefined {
  const text = tryReadText(path)
  return text === "" ? undefined : Number(text)
}

/** The number in a line `name number`. */
function readField(text: string, name: string, otherwise = 0): number {
  const at = text.startsWith(`${name} `) ? 0 : text.indexOf(`\n${name} `) + 1
  if (at === 0 && !text.startsWith(`${name} `)) return otherwise
  return Number.parseInt(text.slice(at + name.length + 1), 10)
}
