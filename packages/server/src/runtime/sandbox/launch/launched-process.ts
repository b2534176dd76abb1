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

/** How one process is started. */
export interface Launch {
  readonly id: string
  readonly folder: SandboxFolder
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly limits: SandboxLimits
  readonly stdin: "ignore" | Uint8Array
  readonly stdout: "ignore" | "pipe"
  readonly stderr: "ignore" | "pipe"
  /** Whether it starts other processes, which have to end with it. */
  readonly hasChildren: boolean
}

/**
 * The pause between checks whether it is gone doubles from the first to the second of these. A
 * process with much memory takes a while to end.
 */
const goneCheckMs = 2
const goneCheckMsMax = 32
/** Bubblewrap ends after the inner process. After this time it is killed. */
const outerGraceMs = 1_000

/** A process that the launch script has started, with its limits and its control group. */
export class LaunchedProcess {
  readonly child: Bun.Subprocess
  readonly group: Cgroup | undefined
  readonly #host: LaunchHost
  readonly #launch: Launch
  #inner: GuestProcess | undefined

  /** Takes ownership of the group. */
  constructor(host: LaunchHost, launch: Launch, group: Cgroup | undefined) {
    this.#host = host
    this.#launch = launch
    this.group = group
    this.child = this.#spawn()
  }

  /** All its processes that are known. */
  listPids(): number[] {
    const pids = new Set(this.group?.listPids())
    // A new process has not joined the group yet. The id of an ended one may be reused.
    if (this.child.exitCode === null && this.child.signalCode === null) pids.add(this.child.pid)
    const inner = this.findInner()
    if (inner?.isAlive()) pids.add(inner.pid)
    return [...pids]
  }

  /** The process that does the work: with bubblewrap the inner one. Undefined before it started. */
  findInner(): GuestProcess | undefined {
    this.#inner ??= this.#host.isolation.hasOuterProcess
      ? this.#findReported()
      : GuestProcess.find(this.child.pid)
    return this.#inner
  }

  /** Kills the inner process. Bubblewrap then ends by itself, and reports how the inner one ended. */
  kill(): void {
    const inner = this.findInner()
    if (!inner?.isAlive()) {
      this.#killChild()
      return
    }
    // Without a pid namespace, its children would live on. With one, they end with process 1.
    if (this.#hasGroupOfProcesses) this.#killChild()
    else inner.kill()
    setTimeout(() => this.child.kill("SIGKILL"), outerGraceMs).unref()
  }

  /** Called after the outer process has ended. The inner one may take a moment longer. */
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
        onError(new Error(`Cannot end sandbox "${this.#launch.id}": a process in it does not end`))
        return
      }
      await Bun.sleep(pauseMs)
    }
  }

  /** What is known after its end. `cpuMs` is the last measurement, for systems without cgroups. */
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
      // All processes have ended.
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
      // In a process group of its own, so that Ctrl-C in the server's terminal does not reach it.
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
