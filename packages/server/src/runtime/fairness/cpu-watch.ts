import { availableParallelism } from "node:os"
import type { ValProcess } from "../processes/val-process.ts"
import type { Priority, Sandbox, SandboxExit } from "../sandbox/sandbox.ts"

/** What is looked at of a process, and done to it. */
interface Watchable extends Pick<ValProcess, "runs" | "runsEnded" | "retire"> {
  readonly program: { readonly key: string }
  readonly sandbox: Pick<
    Sandbox,
    "readCpuMs" | "readMemoryBytes" | "isRunnable" | "setPriority"
  > & {
    stop(reason: SandboxExit["reason"]): Promise<unknown>
  }
}

interface Watched {
  readonly sinceMs: number
  atMs: number
  cpuMs: number
  memoryAtMs: number
  memoryBytes: number
  /** What it took of one core between the last two looks. */
  share: number
  /** CPU time since the process last paused, or a run in it ended. */
  busyMs: number
  /** How long it has wanted next to nothing. */
  quietMs: number
  runsEnded: number
  priority: Priority
  /** It went on with a low priority. */
  isHog: boolean
}

/**
 * The least time between two looks: at one that has just begun, at one with something to do, at one
 * of low priority, at one without runs; and at its memory.
 */
const lookMs = { young: 20, usual: 80, low: 400, quiet: 2_000, memory: 1_000 }
const youngMs = 1_000
/** CPU time that everybody may take at a stretch, however much of the machine it is. */
const stretchMs = 25
/**
 * The shares of one core from which on a process is busy whatever others do, if that is much of the
 * machine, and below which it may be pausing.
 */
const busyShare = 0.5
const busyPart = 1 / 8
const pauseShare = 0.1
const pauseMs = 300
const hogsMax = 1_000

/**
 * Looks at what processes take. One that is busy without any run coming to its end gets the lowest
 * priority, so that a loop costs its neighbours next to nothing while work that takes a few seconds
 * still gets done; one that never pauses is ended. A val with many visitors is busy too, but its
 * runs end. Loops that crowd a machine get little each, and are told from others all the same: busy
 * is who takes half of what each would get if all who compete got the same, and who wants the
 * processor and is not given it does not pause. A program that was last seen busy begins as it
 * ended, and a new one is patient if others are being served, until a run of it ends.
 */
export class CpuWatch {
  readonly #cpuMsMax: number
  readonly #onHog: () => void
  readonly #cores: number
  readonly #watched = new Map<Watchable, Watched>()
  /** The keys of programs, in the order in which they were last seen. */
  readonly #hogs = new Set<string>()

  /** `onHog` hears once of a process that has got a low priority and goes on. */
  constructor(cpuMsMax: number, onHog: () => void, cores = availableParallelism()) {
    this.#cpuMsMax = cpuMsMax
    this.#onHog = onHog
    this.#cores = cores
  }

  /** What the process has in memory, as last seen; 0 before the first look. */
  memoryOf(process: Watchable): number {
    return this.#watched.get(process)?.memoryBytes ?? 0
  }

  add(process: Watchable, nowMs: number, usual: "normal" | "patient" = "normal"): void {
    const { sandbox, runsEnded, program } = process
    const cpuMs = sandbox.readCpuMs()
    if (cpuMs === undefined) return
    const priority = this.#hogs.has(program.key) ? "low" : usual
    sandbox.setPriority(priority)
    const nothing = {
      memoryAtMs: Number.NEGATIVE_INFINITY,
      memoryBytes: 0,
      share: 0,
      busyMs: 0,
      quietMs: 0,
      isHog: false,
    }
    this.#watched.set(process, {
      sinceMs: nowMs,
      atMs: nowMs,
      cpuMs,
      runsEnded,
      priority,
      ...nothing,
    })
  }

  check(processes: Iterable<Watchable>, nowMs: number): void {
    const hogShare = this.#hogShare()
    for (const process of processes) {
      const watched = this.#watched.get(process)
      if (watched && isDue(process, watched, nowMs)) this.#check(process, watched, nowMs, hogShare)
    }
  }

  delete(process: Watchable): void {
    this.#watched.delete(process)
  }

  #hogShare(): number {
    let competing = 0
    for (const { share, priority } of this.#watched.values())
      if (priority !== "low" && share >= pauseShare / 2) competing++
    return Math.min(busyShare, this.#cores * busyPart, this.#cores / competing / 2)
  }

  #check(process: Watchable, watched: Watched, nowMs: number, hogShare: number): void {
    const { sandbox } = process
    const cpuMs = sandbox.readCpuMs()
    if (cpuMs === undefined) return
    const hasPaused = note(process, watched, nowMs, cpuMs)
    if (nowMs - watched.memoryAtMs >= lookMs.memory) {
      watched.memoryAtMs = nowMs
      watched.memoryBytes = sandbox.readMemoryBytes() ?? 0
    }
    if (watched.busyMs > this.#cpuMsMax) {
      process.retire()
      void sandbox.stop("cpu")
    } else if (watched.priority !== "normal" && hasPaused)
      this.#setPriority(process, watched, "normal")
    else if (watched.priority === "low" && !watched.isHog) {
      watched.isHog = true
      this.#onHog()
    } else if (
      watched.priority !== "low" &&
      watched.busyMs >= stretchMs &&
      watched.share >= hogShare
    )
      this.#setPriority(process, watched, "low")
  }

  #setPriority(
    { sandbox, program: { key } }: Watchable,
    watched: Watched,
    priority: "normal" | "low",
  ): void {
    watched.priority = priority
    sandbox.setPriority(priority)
    this.#hogs.delete(key)
    if (priority === "normal") return
    this.#hogs.add(key)
    const [oldest] = this.#hogs
    if (this.#hogs.size > hogsMax && oldest !== undefined) this.#hogs.delete(oldest)
  }
}

function isDue(process: Watchable, watched: Watched, nowMs: number): boolean {
  const passedMs = nowMs - watched.atMs
  if (watched.priority !== "normal" && process.runsEnded !== watched.runsEnded) return true
  if (watched.priority === "low") return passedMs >= lookMs.low
  // What it has in memory counts from the beginning, also if its first run has ended already.
  if (process.runs === 0 && watched.busyMs === 0 && watched.memoryBytes > 0)
    return passedMs >= lookMs.quiet
  return passedMs >= (nowMs - watched.sinceMs < youngMs ? lookMs.young : lookMs.usual)
}

/** Notes what it has taken since the last look; tells whether it has come to rest meanwhile. */
function note(
  { sandbox, runsEnded }: Watchable,
  watched: Watched,
  nowMs: number,
  cpuMs: number,
): boolean {
  const [tookMs, passedMs] = [cpuMs - watched.cpuMs, nowMs - watched.atMs]
  const share = tookMs / passedMs
  const isQuiet =
    share < pauseShare &&
    !((tookMs > 0 || watched.busyMs > 0 || watched.priority === "low") && sandbox.isRunnable())
  const quietMs = isQuiet ? watched.quietMs + passedMs : 0
  const hasPaused = runsEnded !== watched.runsEnded || quietMs >= pauseMs
  const busyMs = hasPaused ? 0 : watched.busyMs + tookMs
  Object.assign(watched, { atMs: nowMs, cpuMs, runsEnded, share, quietMs, busyMs })
  return hasPaused
}
