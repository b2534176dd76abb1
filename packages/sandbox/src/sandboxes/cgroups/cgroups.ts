import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { basename, dirname, join } from "node:path"
import type { SandboxLimits } from "../sandbox-limits.ts"
import { Cgroup, type CgroupFolders, removeGroup } from "./cgroup.ts"
import { type Controller, findOwnGroups, type OwnGroup } from "./cgroup-mounts.ts"

/**
 * The control groups of one server. In each hierarchy, below the server's own group, there is one
 * group for all its sandboxes, and in that one group for each sandbox. `has` tells which
 * controllers the machine offers.
 */
export class Cgroups {
  /** Sentences for the operator. */
  readonly details: readonly string[]
  readonly #folders: CgroupFolders
  readonly #limits: SandboxLimits

  private constructor(folders: CgroupFolders, limits: SandboxLimits, failures: readonly string[]) {
    this.#folders = folders
    this.#limits = limits
    this.details = this.#describe(failures)
  }

  /** `noteFolder` gets every folder before it is created, so that a later sweep can remove it. */
  static async create(
    name: string,
    limits: SandboxLimits,
    noteFolder: (folder: string) => void,
    isWanted: boolean,
  ): Promise<Cgroups> {
    const failures: string[] = []
    const prepared = (isWanted ? findOwnGroups() : []).map((own) =>
      prepare(own, name, noteFolder, failures),
    )
    return new Cgroups(Object.assign({}, ...(await Promise.all(prepared))), limits, failures)
  }

  has(controller: Controller): boolean {
    return this.#folders[controller] !== undefined
  }

  /** Creates the group of a sandbox, with its limits. Undefined without any controller. */
  async createGroup(
    name: string,
    limits: SandboxLimits = this.#limits,
  ): Promise<Cgroup | undefined> {
    const entries = Object.entries(this.#folders).map(([controller, group]) => [
      controller,
      { ...group, folder: join(group.folder, name) },
    ])
    if (entries.length === 0) return undefined
    return await Cgroup.create(Object.fromEntries(entries) as CgroupFolders, limits)
  }

  /**
   * Removes the server's groups; those of its sandboxes must be gone. Returns false when the kernel
   * still keeps one.
   */
  async stop(): Promise<boolean> {
    const folders = [...new Set(Object.values(this.#folders).map((group) => group.folder))]
    const deadlineMs = performance.now() + this.#limits.endMsMax
    while (!(await Promise.all(folders.map(removeGroup))).every(Boolean)) {
      if (performance.now() > deadlineMs) return false
      await Bun.sleep(removeRetryMs)
    }
    return true
  }

  #describe(failures: readonly string[]): string[] {
    const { watchMs } = this.#limits
    const rows = [
      ["memory", "memory", `memory is checked every ${watchMs} ms`],
      ["pids", "processes", `threads are checked every ${watchMs} ms`],
      [
        "cpu",
        "CPU share",
        "a process that hogs the CPU is moved to half of the cores or reniced, if possible",
      ],
    ] as const
    const lines = rows.map(([controller, what, otherwise]) => {
      const version = this.#folders[controller]?.version
      return version
        ? `${what} limited by cgroup v${version}`
        : `no ${controller} cgroup: ${otherwise}`
    })
    return [...lines, ...failures]
  }
}

const removeRetryMs = 5

/**
 * On version 2 the server moves itself into a group of this name, because a group whose children
 * have limits must not contain processes.
 */
const ownLeafName = "hamlet-main"

async function prepare(
  own: OwnGroup,
  name: string,
  noteFolder: (folder: string) => void,
  failures: string[],
): Promise<CgroupFolders> {
  const parent =
    own.version === 2 && basename(own.folder) === ownLeafName ? dirname(own.folder) : own.folder
  const folder = join(parent, name)
  try {
    noteFolder(folder)
    mkdirSync(folder)
    const enabled =
      own.version === 1 ? own.controllers : await delegate(parent, folder, own.controllers)
    if (enabled.length === 0) throw new Error("its controllers cannot be delegated")
    if (enabled.includes("cpu")) setWeight(own.version, folder)
    await assertJoinable(join(folder, "trial"))
    return Object.fromEntries(
      enabled.map((controller) => [controller, { version: own.version, folder }]),
    )
  } catch (error) {
    await removeGroup(folder)
    failures.push(
      `cgroup v${own.version} (${own.controllers.join(", ")}) is not usable: ${toReason(error)}`,
    )
    return {}
  }
}

/** The server may be allowed to create a group, but not to put a process there. */
async function assertJoinable(folder: string): Promise<void> {
  mkdirSync(folder)
  const child = Bun.spawn(["/bin/sh", "-c", 'echo $$ >"$1"', "sh", join(folder, "cgroup.procs")], {
    stdio: ["ignore", "ignore", "ignore"],
  })
  const exitCode = await child.exited
  await removeGroup(folder)
  if (exitCode !== 0) throw new Error("no process can be put into its groups")
}

/** Gives all sandboxes together the weight of one process per core. */
function setWeight(version: 1 | 2, folder: string): void {
  const cores = availableParallelism()
  if (version === 1) writeFileSync(join(folder, "cpu.shares"), String(1024 * cores))
  else writeFileSync(join(folder, "cpu.weight"), String(Math.min(100 * cores, 10_000)))
}

/**
 * Version 2: lets the groups below have limits. The group must be empty for that, so the server
 * moves to a group of its own, together with the processes that started it.
 */
async function delegate(
  parent: string,
  folder: string,
  wanted: readonly Controller[],
): Promise<Controller[]> {
  if (!enable(parent, wanted)) {
    const leaf = join(parent, ownLeafName)
    const own = listOwnProcesses(parent)
    mkdirSync(leaf, { recursive: true })
    move(own, leaf)
    if (!enable(parent, wanted)) {
      move(own, parent)
      await removeGroup(leaf)
      throw new Error("other processes are in the server's group; start it in one of its own")
    }
  }
  enable(folder, wanted)
  const enabled = readFileSync(join(folder, "cgroup.subtree_control"), "utf8").trim().split(" ")
  return wanted.filter((controller) => enabled.includes(controller))
}

function move(pids: readonly number[], folder: string): void {
  for (const pid of pids) writeFileSync(join(folder, "cgroup.procs"), String(pid))
}

function enable(folder: string, wanted: readonly Controller[]): boolean {
  const path = join(folder, "cgroup.subtree_control")
  const isOn = () =>
    wanted.every((controller) => readFileSync(path, "utf8").trim().split(" ").includes(controller))
  if (isOn()) return true
  try {
    appendFileSync(path, wanted.map((controller) => `+${controller}`).join(" "))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EBUSY") throw error
  }
  return isOn()
}

/** The server and its parent processes, as long as they are in that group. */
function listOwnProcesses(parent: string): number[] {
  const members = new Set(
    readFileSync(join(parent, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number),
  )
  const found: number[] = []
  for (let pid = process.pid; members.has(pid) && !found.includes(pid); pid = readParent(pid))
    found.push(pid)
  return found
}

function readParent(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
}

function toReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") return "it is not writable"
  return message
}
