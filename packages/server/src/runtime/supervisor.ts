import { AppError } from "../domain/app-error.ts"
import type { Client, Program, RunListener, Runner, RunnerStatus, Seat, Stopped } from "../domain/execution.ts"
import type { Outdated } from "../domain/retirer.ts"
import { CpuWatch } from "./cpu-watch.ts"
import { GuestValueReader } from "./guest-value-reader.ts"
import { Pool, type PoolDeps } from "./pool.ts"
import { ProcessSeat, type Usher } from "./process-seat.ts"
import type { RunnerLimits } from "./runner-limits.ts"
import type { Sandbox } from "./sandbox/sandbox.ts"
import { Turnstile } from "./turnstile.ts"
import { ValProcess } from "./val-process.ts"

const sweepMs = 100
/** A process that is still at its first run is looked at more often, but not for ever. */
const youngSweepMs = 25
const youngMs = 1_000
/** A val is known after so many runs, and being visited when one came or left within this time. */
const knownRuns = 10
const servingMs = 200
/** A module that does not load is not tried again for every request that comes meanwhile. */
const failureKeptMs = 1_000
/** So much more than a run keeps of its log is sent: where the host cuts it, it sees what stands across the cut, and hides a secret there. */
const logSlackBytes = 1_024

/** What the supervisor needs. */
export interface SupervisorDeps {
  launch: PoolDeps["launch"]
  hurry: PoolDeps["hurry"]
  /** The level in force, in a word. */
  isolation(): string
  readonly limits: RunnerLimits
  onError(error: unknown): void
}

/** Gives runs to processes: finds or binds one for each program, keeps all of them within the limits, and ends them. */
export class Supervisor implements Runner, Usher {
  readonly #deps: SupervisorDeps
  readonly #limits: RunnerLimits
  readonly #turnstile: Turnstile
  readonly #pool: Pool
  readonly #cpuWatch: CpuWatch
  readonly #valueReader = new GuestValueReader()
  /** Every process that has a program. */
  readonly #processes = new Set<ValProcess>()
  /** Those that take new runs. */
  readonly #byKey = new Map<string, ValProcess>()
  readonly #binding = new Map<string, Promise<ValProcess>>()
  readonly #timer: ReturnType<typeof setInterval>
  /** Of those, how many have been told to end. */
  #ending = 0
  #isStopped = false

  constructor(deps: SupervisorDeps) {
    const { limits, launch, hurry, onError } = deps
    this.#deps = deps
    this.#limits = limits
    this.#turnstile = new Turnstile(limits)
    this.#cpuWatch = new CpuWatch(limits.cpuMsMax, () => this.#pool.noteWasted())
    this.#pool = new Pool({
      launch: (isAwaited) => launch(isAwaited && !this.#isServing()),
      hurry: () => (this.#isServing() ? undefined : hurry()),
      hasRoom: () => this.#makeRoom(),
      onError,
      limits,
    })
    this.#timer = setInterval(() => this.#sweep(performance.now()), sweepMs)
  }

  /** Gets processes ready before the first run asks for one. */
  start(): void {
    this.#pool.refill()
  }

  status(): RunnerStatus {
    return {
      isolation: this.#deps.isolation(),
      processes: this.#processes.size + this.#pool.size,
      ready: this.#pool.ready,
      runs: this.#turnstile.inside,
      waiting: this.#turnstile.waiting + this.#pool.waiting,
    }
  }

  enter(program: Program, run: RunListener, client?: Client): Seat | Promise<Seat> {
    if (this.#isStopped) throw new AppError("overloaded", "Cannot run the val: the server is stopping")
    const turn = this.#turnstile.enter(program.valId, program.accountId, client)
    if (turn !== undefined) return turn.then(() => this.#seat(program, run))
    return this.#seat(program, run)
  }

  retire(outdated: Outdated): void {
    for (const process of this.#processes) if (isOutdated(process.program, outdated)) this.#retire(process)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    this.#turnstile.stop()
    await Promise.all([this.#pool.stop(), ...[...this.#processes].map((process) => process.sandbox.stop())])
    await this.#valueReader.stop()
  }

  async moveToFreshProcess(seat: ProcessSeat): Promise<Stopped | undefined> {
    const used = seat.process
    const process = await this.#start(used.program, seat.run.id)
    used.rise(seat)
    seat.process = process
    process.sit(seat)
    process.load()
    const stopped = await seat.whenLoaded()
    process.retire()
    return stopped
  }

  left(seat: ProcessSeat): void {
    const { valId, accountId } = seat.process.program
    this.#turnstile.leave(valId, accountId)
  }

  #seat(program: Program, run: RunListener): Seat | Promise<Seat> {
    const process = this.#byKey.get(program.key)
    // A seat may have retired it, which then is only waiting for its end.
    return process?.isOpen ? this.#sit(process, run) : this.#seatInNew(program, run)
  }

  /** The module may still be loading when there is a seat: a request that is sent meanwhile waits in the guest, and is answered sooner. */
  async #seatInNew(program: Program, run: RunListener): Promise<Seat> {
    let process: ValProcess
    try {
      process = await this.#bind(program, run.id)
    } catch (error) {
      this.#turnstile.leave(program.valId, program.accountId)
      throw error
    }
    const seat = this.#sit(process, run)
    try {
      process.load()
    } catch (error) {
      // No room left on the disk, say.
      seat.leave()
      this.#end(process)
      throw error
    }
    return seat
  }

  #sit(process: ValProcess, run: RunListener): ProcessSeat {
    const seat = new ProcessSeat(run, process, this)
    process.sit(seat)
    return seat
  }

  /** However many ask at once, one process is bound. */
  #bind(program: Program, runId: string): Promise<ValProcess> {
    const binding = this.#binding.get(program.key)
    if (binding) return binding
    const begun = this.#start(program, runId)
      .then((process) => {
        this.#retireOlder(program)
        this.#byKey.set(program.key, process)
        return process
      })
      .finally(() => this.#binding.delete(program.key))
    this.#binding.set(program.key, begun)
    return begun
  }

  async #start(program: Program, runId: string): Promise<ValProcess> {
    if (program.whenFetched) await program.whenFetched()
    // Both take their time; the sandbox must not be lost when the program cannot be read, nor the program's token when there is no sandbox.
    const [taken, content] = await Promise.allSettled([this.#take(program, runId), program.load()])
    if (taken.status === "rejected") {
      if (content.status === "fulfilled") content.value.end()
      throw taken.reason
    }
    if (content.status === "rejected") {
      void taken.value.stop().then(() => this.#pool.noteBound())
      throw content.reason
    }
    const process = new ValProcess(program, content.value, taken.value, { limits: this.#limits, valueReader: this.#valueReader }, runId)
    this.#processes.add(process)
    this.#watch(process)
    this.#pool.noteBound()
    void taken.value.exited.then(() => this.#forget(process))
    void process.loaded.then(() => this.#noteLoaded(process))
    if (this.#isStopped) void taken.value.stop()
    return process
  }

  /** What takes all it can get is to be noticed soon after it has begun. */
  #watch(process: ValProcess): void {
    this.#cpuWatch.begin(process, performance.now(), this.#isServing() ? "patient" : "normal")
    const timer = setInterval(() => {
      const nowMs = performance.now()
      this.#cpuWatch.look([process], nowMs)
      if (process.runs === 0 || nowMs - process.startedMs > youngMs) clearInterval(timer)
    }, youngSweepMs).unref()
  }

  /** Whether vals are being visited that are known to be quick: whoever comes new stays out of their way. */
  #isServing(): boolean {
    const sinceMs = performance.now() - servingMs
    for (const { runsEnded, usedMs } of this.#processes) if (runsEnded >= knownRuns && usedMs > sinceMs) return true
    return false
  }

  /** A process that knows already what it is to become: it wakes up while the program is read. */
  async #take(program: Program, runId: string): Promise<Sandbox> {
    const taken = this.#pool.take()
    const sandbox = taken instanceof Promise ? await taken : taken
    const { entryUrl: url, label, endpoint, type } = program
    const { logBytesMax, returnBytesMax } = this.#limits
    sandbox.send({
      kind: "load",
      url,
      label,
      runId,
      scheme: endpoint.slice(0, endpoint.indexOf(":")),
      endpoint,
      isHttp: type === "http",
      limits: { logBytesMax: logBytesMax + logSlackBytes, returnBytesMax },
    })
    return sandbox
  }

  #noteLoaded(process: ValProcess): void {
    if (process.state === "serving" && (process.isCallable || process.program.type === "http")) return
    // What gave no function has been run by being evaluated; what did not load has nothing to run, but may tell so a moment longer.
    if (process.state === "serving" || process.program.type !== "http") this.#retire(process)
    else if (process.state === "loading") process.failedMs = performance.now()
  }

  #retireOlder(program: Program): void {
    for (const process of this.#processes) {
      const other = process.program
      if (other.valId !== program.valId || other.accountId !== program.accountId || other.version > program.version) continue
      if (other.key !== program.key) this.#retire(process)
    }
  }

  #retire(process: ValProcess): void {
    process.retire()
    if (this.#byKey.get(process.program.key) === process) this.#byKey.delete(process.program.key)
  }

  #forget(process: ValProcess): void {
    this.#retire(process)
    this.#processes.delete(process)
    if (process.isEnding) this.#ending--
    this.#cpuWatch.forget(process)
    this.#pool.refill()
  }

  #hasRoom(): boolean {
    return this.#processes.size + this.#pool.size < this.#limits.processesMax
  }

  /** Somebody who is idle goes only for somebody who waits, not to have one more that is ready. There is room when they are gone. */
  #makeRoom(): boolean {
    if (this.#hasRoom()) return true
    while (this.#ending < this.#pool.waiting && this.#evict());
    return false
  }

  /** Ends the process that has been without a run for longest. */
  #evict(): boolean {
    let oldest: ValProcess | undefined
    for (const process of this.#processes) {
      if (process.runs === 0 && !process.isEnding && (!oldest || process.usedMs < oldest.usedMs)) oldest = process
    }
    if (!oldest) return false
    this.#end(oldest)
    return true
  }

  #end(process: ValProcess): void {
    if (process.isEnding) return
    process.isEnding = true
    this.#ending++
    this.#retire(process)
    void process.sandbox.stop()
  }

  #sweep(nowMs: number): void {
    this.#turnstile.sweep(nowMs)
    this.#pool.sweep(nowMs)
    this.#cpuWatch.look(this.#processes, nowMs)
    for (const process of this.#processes) {
      process.sweep(nowMs)
      if (this.#isOver(process, nowMs)) this.#end(process)
      else if (nowMs - process.startedMs > this.#limits.processMsMax) this.#retire(process)
    }
    this.#keepWithinMemory()
  }

  #isOver(process: ValProcess, nowMs: number): boolean {
    if (process.runs > 0) return false
    const idleMs = nowMs - process.usedMs
    if (process.failedMs !== undefined) return nowMs - process.failedMs > failureKeptMs
    // What runs have left behind may go on as long as they might have.
    return idleMs > (process.state === "retiring" && process.isCallable ? this.#limits.runMsMax : this.#limits.idleMsMax)
  }

  #keepWithinMemory(): void {
    if (this.#ending === 0 && this.#cpuWatch.memoryBytes > this.#limits.memoryBytesMax) this.#evict()
  }
}

function isOutdated(program: Program, outdated: Outdated): boolean {
  if ("ownerId" in outdated) return program.ownerId === outdated.ownerId
  return program.valId === outdated.valId && (outdated.version === undefined || outdated.version === program.version)
}
