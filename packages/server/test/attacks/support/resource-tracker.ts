import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { waitUntil } from "@hamlet/kit/testing"
import { isRunning, listDescendants, type ProcessInfo, readText } from "./processes.ts"

/** How long resources may take to disappear. */
const endMsMax = 60_000
const glanceMs = 250

/** Records the processes, control groups, folders and sockets that a server creates. */
export class ResourceTracker {
  readonly #processes = new Map<string, ProcessInfo>()
  readonly #groups = new Set<string>()
  readonly #folders = new Set<string>()
  readonly #ownFolder: string
  #lookedMs = 0

  /** Ignores `ownFolder`, which belongs to the test. */
  constructor(ownFolder: string) {
    this.#ownFolder = ownFolder
  }

  /** Records the current resources unless that was done a moment ago. */
  recordSometimes(serverPid: number): void {
    if (performance.now() - this.#lookedMs > glanceMs) this.record(serverPid)
  }

  /** Records the current resources. */
  record(serverPid: number): readonly ProcessInfo[] {
    this.#lookedMs = performance.now()
    const own = listGroups(serverPid)
    const found = listDescendants(serverPid)
    for (const seen of found) {
      this.#processes.set(`${seen.pid} ${seen.startedTicks}`, seen)
      for (const group of listGroups(seen.pid)) this.#noteGroup(group, own)
      for (const argument of seen.command) this.#noteFolder(argument)
    }
    return found
  }

  /** Describes the recorded resources that still exist after the server has ended. */
  async findRemaining(): Promise<readonly string[]> {
    // Past the deadline the caller fails, and names what is left.
    await waitUntil(async () => this.#list().length === 0, { msMax: endMsMax }).catch(() => {})
    return this.#list()
  }

  #list(): readonly string[] {
    const sockets = readText("/proc/net/unix").split("\n")
    return [
      ...[...this.#processes.values()]
        .filter(isRunning)
        .map(({ pid, command }) => `process ${pid}: ${command.join(" ").slice(0, 200)}`),
      ...[...this.#groups].filter(existsSync).map((group) => `control group ${group}`),
      ...[...this.#folders].filter(existsSync).map((folder) => `folder ${folder}`),
      ...[...this.#folders].flatMap((folder) =>
        sockets.filter((line) => line.includes(folder)).map((line) => `socket ${line}`),
      ),
    ]
  }

  /**
   * Groups of sandboxes are in one of the server, which is in the one that the server itself is in.
   * A process that ends is in none.
   */
  #noteGroup(group: string, own: readonly string[]): void {
    const isBelow = (folder: string) => own.some((ownGroup) => folder.startsWith(`${ownGroup}/`))
    for (let folder = group; isBelow(folder); folder = dirname(folder)) this.#groups.add(folder)
  }

  /** Folders of sandboxes are among the arguments of what starts them. */
  #noteFolder(argument: string): void {
    const name = new RegExp(`^(?:${tmpdir()}|/tmp)/(hamlet-[^/]+)/`).exec(argument)?.[1]
    if (name === undefined || argument.startsWith(this.#ownFolder)) return
    this.#folders.add(join(argument.slice(0, argument.indexOf(name)), name))
  }
}

/** The folders of the control groups that a process is in, as far as they can be seen. */
function listGroups(pid: number): readonly string[] {
  return readText(`/proc/${pid}/cgroup`)
    .split("\n")
    .flatMap((line) => {
      const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
      const roots =
        controllers === ""
          ? ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
          : [`/sys/fs/cgroup/${controllers.replace("name=", "")}`]
      return roots
        .map((root) => join(root, path).replace(/\/$/, ""))
        .filter((folder) => existsSync(join(folder, "cgroup.procs")))
    })
}
