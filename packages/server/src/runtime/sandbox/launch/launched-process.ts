import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Cgroup } from "../cgroups/cgroup.ts"
import type { Cgroups } from "../cgroups/cgroups.ts"
import { toShellCommand } from "../commands/launch-script.ts"
import type { Isolation } from "../isolation.ts"
import type { ExitFacts, StopCause } from "../sandbox-exit.ts"
import type { SandboxFolder } from "../sandbox-folder.ts"
import type { SandboxLimits } from "../sandbox-limits.ts"
import { bubblewrapFile, processFile } from "../sweep.ts"
import { GuestProcess } from "./guest-process.ts"

/** What all sandboxed processes of a server share. */
export interface LaunchHost {
  readonly limits: SandboxLimits
  readonly isolation: Isolation
  readonly cgroups: Cgroups
  readonly filterPath: string
  readonly onError: (error: unknown) => void
}

/** How one of them is started. */
export interface Launch {
  readonly id: string
  readonly folder: SandboxFolder
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly limits: SandboxLimits
  readonly stdin: "ignore" | Uint8Array
  readonly stdout: "ignore" | "pipe"
  readonly stderr: "ignore" | "pipe"
  /** Whether it starts processes of its own, which have to end with it. */
  readonly hasChildren: boolean
}

/**
 * Between the first two looks whether it is gone; each time twice as long, up to the most: one that
 * has much memory takes a while.
 */
const goneCheckMs = 2
const goneCheckMsMax = 32
/** bubblewrap ends by itself when the process inside has; after this long it is not waited for. */
const outerGraceMs = 1_000

/**
 * A process behind the launch script, with its limits and its control group: what there is to look
 * at, to end, and to wait for.
 */
export class LaunchedProcess {
  readonly child: Bun.Subprocess
  readonly group: Cgroup | undefined
  readonly #host: LaunchHost
  readonly #launch: Launch
  #inner: GuestProcess | undefined

  /** The group is its own from now on. */
  constructor(host: LaunchHost, launch: Launch, group: Cgroup | undefined) {
    this.#host = host
    this.#launch = launch
    this.group = group
    this.child = this.#spawn()
  }

  /** All that there is of it, as far as anybody can tell. */
  listPids(): number[] {
    const pids = new Set(this.group?.listPids())
    // Who has just been started has not joined the group yet; who has ended may have left its
    // number to somebody else.
    if (this.child.exitCode === null && this.child.signalCode === null) pids.add(this.child.pid)
    if (this.#inner?.isAlive()) pids.add(this.#inner.pid)
    return [...pids]
  }

  /**
   * The process in which the work is done: the one inside bubblewrap, if there is one around it.
   * Undefined while it cannot be found.
   */
  findInner(): GuestProcess | undefined {
    this.#inner ??= this.#host.isolation.hasOuterProcess
      ? this.#findReported()
      : GuestProcess.find(this.child.pid)
    return this.#inner
  }

  /**
   * bubblewrap, if there is one, takes note of the end inside and follows. Killed itself, it would
   * leave that to somebody else.
   */
  kill(): void {
    const inner = this.findInner()
    if (!inner?.isAlive()) {
      this.#killChild()
      return
    }
    // Where there are no namespaces, children of its own would live on; the first of a namespace
    // takes all others along.
    if (this.#hasGroupOfProcesses) this.#killChild()
    else inner.kill()
    setTimeout(() => this.child.kill("SIGKILL"), outerGraceMs).unref()
  }

  /** The process that we started has ended; the one inside of it may take a moment longer. */
  async waitUntilGone(): Promise<void> {
    const { limits, onError } = this.#host
    const deadlineMs = performance.now() + limits.endMsMax
    if (this.#hasGroupOfProcesses) this.#killChild()
    for (let pauseMs = goneCheckMs; ; pauseMs = Math.min(pauseMs * 2, goneCheckMsMax)) {
      const isInnerAlive = this.#inner?.isAlive() ?? false
      if (isInnerAlive) this.#inner?.kill()
      const left = this.group?.kill() ?? 0
      if (!isInnerAlive && left === 0) return
      if (performance.now() > deadlineMs) {
        onError(
          new Error(`Cannot end sandbox "${this.#launch.id}": a process in it does not go away`),
        )
        return
      }
      await Bun.sleep(pauseMs)
    }
  }

  /**
   * What can be known of it once it has ended. `cpuMs` is what was seen of it before, where the
   * system does not remember.
   */
  readExitFacts(stopped: StopCause | undefined, cpuMs: number | undefined): ExitFacts {
    return {
      code: this.child.exitCode,
      signal: this.child.signalCode,
      stopped,
      wasOutOfMemory: this.group?.wasOutOfMemory() ?? false,
      wasOutOfProcesses: this.group?.wasOutOfProcesses() ?? false,
      cpuMs: this.group?.readCpuMs() ?? cpuMs,
      memoryBytes: this.group?.readPeakBytes(),
    }
  }

  get #hasGroupOfProcesses(): boolean {
    return this.#launch.hasChildren && !this.#host.isolation.hasOuterProcess
  }

  #killChild(): void {
    if (!this.#hasGroupOfProcesses) {
      this.child.kill("SIGKILL")
      return
    }
    try {
      process.kill(-this.child.pid, "SIGKILL")
    } catch {
      // All of them have ended.
    }
  }

  #spawn(): Bun.Subprocess {
    const { isolation, filterPath } = this.#host
    const { folder, command, environment, limits, stdin, stdout, stderr } = this.#launch
    const start = {
      processPath: join(folder.path, processFile),
      reportPath: isolation.hasOuterProcess ? join(folder.path, bubblewrapFile) : "/dev/null",
      filterPath: isolation.hasOuterProcess ? filterPath : "/dev/null",
      joinPaths: this.group?.joinPaths ?? [],
      hasOwnUser: isolation.hasOwnUser,
      limits,
    }
    return Bun.spawn(toShellCommand(start, command), {
      cwd: isolation.hasOuterProcess ? "/" : folder.scratch,
      env: environment,
      stdio: [stdin, stdout, stderr],
      // In a process group of its own: what a terminal sends to the group of the server, such as
      // Ctrl-C, does not reach it.
      detached: true,
    })
  }

  #findReported(): GuestProcess | undefined {
    try {
      const report = JSON.parse(
        readFileSync(join(this.#launch.folder.path, bubblewrapFile), "utf8"),
      ) as { "child-pid": number }
      return GuestProcess.find(report["child-pid"])
    } catch {
      return undefined
    }
  }
}
