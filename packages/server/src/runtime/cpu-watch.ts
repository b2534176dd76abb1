import type { Sandbox, SandboxExit } from "./sandbox/sandbox.ts"
import type { ValProcess } from "./val-process.ts"

/** What is looked at of a process, and done to it. */
interface Watchable extends Pick<ValProcess, "runs" | "runsEnded" | "retire"> {
  readonly sandbox: Pick<Sandbox, "usage" | "isRunnable" | "setPriority"> & { stop(reason: SandboxExit["reason"]): Promise<unknown> }
}

interface Watched {
  atMs: number
  cpuMs: number
  memoryBytes: number
  /** CPU time since the process last paused, or a run in it ended. */
  busyMs: number
  runsEnded: number
  isDemoted: boolean
}

const intervalMs = 250
/** A process without runs is looked at this much more rarely. */
const quietFactor = 8
/** The share of one core from which on a process counts as busy, and below which it may have paused. */
const busyShare = 0.5
const pauseShare = 0.1

/**
 * Looks at what processes take. One that keeps a core busy without any run coming to its end gets the lowest priority, so that a loop costs
 * its neighbours next to nothing while work that takes a few seconds still gets done; one that never pauses is ended. A val with many
 * visitors is busy too, but its runs end. One that wants the processor and is not given it has not paused: on a machine that is full of loops
 * each of them gets little, and would come back with its old priority.
 */
export class CpuWatch {
  readonly #cpuMsMax: number
  readonly #watched = new Map<Watchable, Watched>()

  constructor(cpuMsMax: number) {
    this.#cpuMsMax = cpuMsMax
  }

  /** What all processes together take, as last seen. */
  get memoryBytes(): number {
    let bytes = 0
    for (const { memoryBytes } of this.#watched.values()) bytes += memoryBytes
    return bytes
  }

  check(process: Watchable, nowMs: number): void {
    const last = this.#watched.get(process)
    if (last && nowMs - last.atMs < (process.runs > 0 || last.busyMs > 0 ? intervalMs : intervalMs * quietFactor)) return
    const usage = process.sandbox.usage()
    if (!usage) return
    if (!last) {
      this.#watched.set(process, { atMs: nowMs, busyMs: 0, runsEnded: process.runsEnded, isDemoted: false, ...usage })
      return
    }
    const isGettingOn = process.runsEnded !== last.runsEnded
    const share = (usage.cpuMs - last.cpuMs) / (nowMs - last.atMs)
    const hasPaused = isGettingOn || (share < pauseShare && !(isBusy(last) && process.sandbox.isRunnable()))
    last.busyMs = hasPaused ? 0 : last.busyMs + usage.cpuMs - last.cpuMs
    Object.assign(last, usage, { atMs: nowMs, runsEnded: process.runsEnded })
    if (last.busyMs > this.#cpuMsMax) {
      process.retire()
      void process.sandbox.stop("cpu")
    } else if (last.isDemoted ? hasPaused : !hasPaused && share > busyShare) {
      last.isDemoted = !last.isDemoted
      process.sandbox.setPriority(last.isDemoted ? "idle" : "normal")
    }
  }

  forget(process: Watchable): void {
    this.#watched.delete(process)
  }
}

function isBusy({ busyMs, isDemoted }: Watched): boolean {
  return busyMs > 0 || isDemoted
}
