import { availableParallelism } from "node:os"
import { RecentMap } from "@hamlet/kit"
import type { ProgramProcess } from "../processes/program-process.ts"
import type { Priority, Sandbox, SandboxExit } from "../sandboxes/sandbox.ts"

/** A process of a program, as far as it is measured. */
interface WatchedProcess extends Pick<ProgramProcess, "runs" | "runsEnded" | "retire"> {
  readonly program: { readonly key: string }
  readonly sandbox: Pick<
    Sandbox,
    "readCpuMs" | "readMemoryBytes" | "isRunnable" | "setPriority"
  > & {
    stop(reason: SandboxExit["reason"], message?: string): Promise<unknown>
  }
}

/** What the watch has measured of a process. */
interface Measurement {
  /** When the watch began. */
  readonly sinceMs: number
  /** When it was last checked, and its CPU time then. */
  atMs: number
  cpuMs: number
  memoryAtMs: number
  memoryBytes: number
  /** The share of one core that it used between the last two checks. */
  share: number
  /** CPU time since the process last paused, or one of its runs ended. */
  busyMs: number
  /** For how long it has used next to no CPU. */
  quietMs: number
  runsEnded: number
  priority: Priority
  /** Whether the process was still busy after it got a low priority. */
  isHog: boolean
}

/** The least time between two checks of a process, by its state, and of its memory. */
const checkMs = { young: 20, usual: 80, low: 400, quiet: 2_000, memory: 1_000 }
const youngMs = 1_000
/** CPU time that every process may use without a pause before it can count as busy. */
const stretchMs = 25
/**
 * A process counts as busy from the least of these on: half of one core, an eighth of all cores,
 * half of its fair share.
 */
const busyShare = 0.5
const busyPart = 1 / 8
/** A process that uses less than this share of one core for `pauseMs` pauses. */
const pauseShare = 0.1
const pauseMs = 300
/** The most programs whose last processes are kept in mind as busy. */
const hogsMax = 1_000

/**
 * Measures the CPU time and the memory of processes, and sets their priority.
 *
 * A process is busy when it uses at least half of its fair share of the CPU, and none of its runs
 * ends. A busy process gets the lowest priority: a loop then costs other processes next to nothing,
 * while work of a few seconds is still done. A process that uses `cpuMsMax` of CPU time without a
 * pause is ended. A program with many requests uses much CPU too, but its runs end.
 *
 * The fair share is what each competing process would get if all got the same, so loops are found
 * on a crowded machine too. A process that waits for the CPU does not pause.
 *
 * A program whose last process was busy starts with the low priority. A new program is "patient"
 * while quick programs are serving, until one of its runs ends.
 */
export class CpuWatch {
  readonly #cpuMsMax: number
  readonly #onHog: () => void
  readonly #cores: number
  readonly #measurements = new Map<WatchedProcess, Measurement>()
  /** The keys of programs whose last process was busy, the latest last. */
  readonly #hogs = new RecentMap<string, true>(hogsMax)

  /** `onHog` is called once for each process that is still busy at a low priority. */
  constructor(cpuMsMax: number, onHog: () => void, cores = availableParallelism()) {
    this.#cpuMsMax = cpuMsMax
    this.#onHog = onHog
    this.#cores = cores
  }

  /** The memory of the process as last measured; 0 before the first check. */
  memoryOf(process: WatchedProcess): number {
    return this.#measurements.get(process)?.memoryBytes ?? 0
  }

  add(process: WatchedProcess, nowMs: number, usual: "normal" | "patient" = "normal"): void {
    const { sandbox, runsEnded, program } = process
    const cpuMs = sandbox.readCpuMs()
    if (cpuMs === undefined) return
    const priority = this.#hogs.has(program.key) ? "low" : usual
    sandbox.setPriority(priority)
    const unmeasured = {
      memoryAtMs: Number.NEGATIVE_INFINITY,
      memoryBytes: 0,
      share: 0,
      busyMs: 0,
      quietMs: 0,
      isHog: false,
    }
    this.#measurements.set(process, {
      sinceMs: nowMs,
      atMs: nowMs,
      cpuMs,
      runsEnded,
      priority,
      ...unmeasured,
    })
  }

  check(processes: Iterable<WatchedProcess>, nowMs: number): void {
    const busyFrom = this.#findBusyShare()
    for (const process of processes) {
      const measured = this.#measurements.get(process)
      if (measured && isDue(process, measured, nowMs))
        this.#check(process, measured, nowMs, busyFrom)
    }
  }

  delete(process: WatchedProcess): void {
    this.#measurements.delete(process)
  }

  /** The share of one core from which on a process is busy now. */
  #findBusyShare(): number {
    let competing = 0
    for (const { share, priority } of this.#measurements.values())
      if (priority !== "low" && share >= pauseShare / 2) competing++
    return Math.min(busyShare, this.#cores * busyPart, this.#cores / competing / 2)
  }

  #check(process: WatchedProcess, measured: Measurement, nowMs: number, busyFrom: number): void {
    const { sandbox } = process
    const cpuMs = sandbox.readCpuMs()
    if (cpuMs === undefined) return
    const hasPaused = measure(process, measured, nowMs, cpuMs)
    if (nowMs - measured.memoryAtMs >= checkMs.memory) {
      measured.memoryAtMs = nowMs
      measured.memoryBytes = sandbox.readMemoryBytes() ?? 0
    }
    if (measured.busyMs > this.#cpuMsMax) {
      process.retire()
      void sandbox.stop(
        "cpu",
        `it used more CPU time than the limit of ${Math.round(this.#cpuMsMax / 1000)} s`,
      )
    } else if (measured.priority !== "normal" && hasPaused)
      this.#setPriority(process, measured, "normal")
    else if (measured.priority === "low" && !measured.isHog) {
      measured.isHog = true
      this.#onHog()
    } else if (
      measured.priority !== "low" &&
      measured.busyMs >= stretchMs &&
      measured.share >= busyFrom
    )
      this.#setPriority(process, measured, "low")
  }

  #setPriority(
    { sandbox, program: { key } }: WatchedProcess,
    measured: Measurement,
    priority: "normal" | "low",
  ): void {
    measured.priority = priority
    sandbox.setPriority(priority)
    if (priority === "normal") this.#hogs.delete(key)
    else this.#hogs.set(key, true)
  }
}

function isDue(process: WatchedProcess, measured: Measurement, nowMs: number): boolean {
  const passedMs = nowMs - measured.atMs
  if (measured.priority !== "normal" && process.runsEnded !== measured.runsEnded) return true
  if (measured.priority === "low") return passedMs >= checkMs.low
  // The memory is measured soon after the start, even if the first run has ended already.
  if (process.runs === 0 && measured.busyMs === 0 && measured.memoryBytes > 0)
    return passedMs >= checkMs.quiet
  return passedMs >= (nowMs - measured.sinceMs < youngMs ? checkMs.young : checkMs.usual)
}

/** Updates the measurement. Returns whether the process has paused, or one of its runs has ended. */
function measure(
  { sandbox, runsEnded }: WatchedProcess,
  measured: Measurement,
  nowMs: number,
  cpuMs: number,
): boolean {
  const [usedMs, passedMs] = [cpuMs - measured.cpuMs, nowMs - measured.atMs]
  const share = usedMs / passedMs
  const isQuiet =
    share < pauseShare &&
    !((usedMs > 0 || measured.busyMs > 0 || measured.priority === "low") && sandbox.isRunnable())
  const quietMs = isQuiet ? measured.quietMs + passedMs : 0
  const hasPaused = runsEnded !== measured.runsEnded || quietMs >= pauseMs
  const busyMs = hasPaused ? 0 : measured.busyMs + usedMs
  Object.assign(measured, { atMs: nowMs, cpuMs, runsEnded, share, quietMs, busyMs })
  return hasPaused
}
