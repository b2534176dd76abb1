import { readFileSync } from "node:fs"
import { parseOwnJson } from "@hamlet/kit"
import type { Cgroup } from "../cgroups/cgroup.ts"
import type { ExitFacts, StopCause } from "../sandbox-exit.ts"
import { findInnermost, GuestProcess, killInnermost } from "./guest-process.ts"

/** How a process was started. */
export interface LaunchFacts {
  readonly id: string
  /** A bubblewrap process is around it. */
  readonly isBoxed: boolean
  /** Where bubblewrap reports its process id. */
  readonly reportPath: string | undefined
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

/** A process in a sandbox, with its control group. */
export class LaunchedProcess {
  readonly child: Bun.Subprocess
  readonly group: Cgroup | undefined
  readonly #facts: LaunchFacts
  #inner: GuestProcess | undefined

  constructor(child: Bun.Subprocess, group: Cgroup | undefined, facts: LaunchFacts) {
    this.child = child
    this.group = group
    this.#facts = facts
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
    const { isBoxed, reportPath } = this.#facts
    if (isBoxed && reportPath === undefined) return GuestProcess.find(findInnermost(this.child.pid))
    this.#inner ??=
      reportPath === undefined ? GuestProcess.find(this.child.pid) : findReported(reportPath)
    return this.#inner
  }

  /** Kills the inner process. Bubblewrap then ends by itself, and reports how the inner one ended. */
  kill(): void {
    const { isBoxed, reportPath } = this.#facts
    if (isBoxed && reportPath === undefined) {
      killInnermost(this.child.pid)
      return
    }
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
  async waitUntilGone(endMsMax: number, onError: (error: unknown) => void): Promise<void> {
    const deadlineMs = performance.now() + endMsMax
    if (this.#hasGroupOfProcesses) this.#killChild()
    for (let pauseMs = goneCheckMs; ; pauseMs = Math.min(pauseMs * 2, goneCheckMsMax)) {
      const isInnerAlive = this.#inner?.isAlive() ?? false
      if (isInnerAlive) this.#inner?.kill()
      const left = this.group?.kill() ?? 0
      if (!isInnerAlive && left === 0) return
      if (performance.now() > deadlineMs) {
        onError(new Error(`Cannot end sandbox "${this.#facts.id}": a process in it does not end`))
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
    return this.#facts.hasChildren && !this.#facts.isBoxed
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
}

function findReported(path: string): GuestProcess | undefined {
  try {
    const report = parseOwnJson(readFileSync(path, "utf8")) as { "child-pid": number }
    return GuestProcess.find(report["child-pid"])
  } catch {
    // The process has not started yet.
    return undefined
  }
}
