import { AppError } from "../../domain/app-error.ts"
import { isOutdated, type Outdated } from "../../domain/runs/retirement.ts"
import type {
  Client,
  Program,
  RunListener,
  Runner,
  RunnerStatus,
  RunSlot,
  Stopped,
} from "../../domain/runs/runner.ts"
import { Histogram } from "../../shared/histogram.ts"
import { CpuWatch } from "../fairness/cpu-watch.ts"
import { GuestValueReader } from "../guest-client/guest-value-reader.ts"
import type { Sandbox, SandboxExit } from "../sandbox/sandbox.ts"
import { Pool, type PoolDeps } from "./pool.ts"
import { memoryUsedUp, ProcessShares, processesUsedUp } from "./process-shares.ts"
import { RunLimiter } from "./run-limiter.ts"
import { ProcessRunSlot, type RunSlotOwner } from "./run-slot.ts"
import type { RunnerLimits } from "./runner-limits.ts"
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
/**
 * So much more than a run keeps of its log is sent: where the host cuts it, it sees what stands
 * across the cut, and hides a secret there.
 */
const logSlackBytes = 1_024

/** What the supervisor needs. */
export interface SupervisorDeps {
  launch: PoolDeps["launch"]
  hurry: PoolDeps["hurry"]
  /** The level in force, in a word. */
  isolation(): string
  readonly limits: RunnerLimits
  onAvailability: PoolDeps["onAvailability"]
}

/**
 * Gives runs to processes: finds or binds one for each program, keeps all of them within the
 * limits, and ends them.
 */
export class Supervisor implements Runner, RunSlotOwner {
  readonly #deps: SupervisorDeps
  readonly #limits: RunnerLimits
  readonly #turnstile: RunLimiter
  readonly #shares: ProcessShares
  readonly #pool: Pool
  readonly #cpuWatch: CpuWatch
  readonly #coldStarts = new Histogram()
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
    const { limits, launch, hurry, onAvailability } = deps
    this.#deps = deps
    this.#limits = limits
    this.#turnstile = new RunLimiter(limits)
    this.#shares = new ProcessShares(limits)
    this.#cpuWatch = new CpuWatch(limits.cpuMsMax, () => this.#pool.noteWasted())
    this.#pool = new Pool({
      launch: (isAwaited) => launch(isAwaited && !this.#isServing()),
      hurry: () => (this.#isServing() ? undefined : hurry()),
      hasRoom: () => this.#makeRoom(),
      onAvailability,
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
      runs: this.#turnstile.active,
      problem: this.#pool.problem,
      memoryBytes: this.#usedBytes(),
      memoryBytesMax: this.#limits.memoryBytesMax,
      coldStarts: this.#coldStarts,
      waiting: this.#turnstile.waiting + this.#shares.waiting + this.#pool.waiting,
    }
  }

  acquire(program: Program, run: RunListener, client?: Client): RunSlot | Promise<RunSlot> {
    if (this.#isStopped)
      throw new AppError("overloaded", "Cannot run the val: the server is stopping")
    const turn = this.#turnstile.acquire(program.valId, program.accountId, client)
    if (turn !== undefined) return turn.then(() => this.#slot(program, run))
    return this.#slot(program, run)
  }

  retire(outdated: Outdated): void {
    for (const process of this.#processes)
      if (isOutdated(process.program, outdated)) this.#retire(process)
  }

  endAllOf(userId: string): void {
    for (const it of this.#processes)
      if ([it.program.ownerId, it.program.accountId].includes(userId)) this.#end(it)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    this.#turnstile.stop()
    this.#shares.stop()
    await Promise.all([
      this.#pool.stop(),
      ...[...this.#processes].map((process) => process.sandbox.stop()),
    ])
    await this.#valueReader.stop()
  }

  async moveToFreshProcess(slot: ProcessRunSlot): Promise<Stopped | undefined> {
    const { program } = slot.process
    // It would keep its share of the processes while it waits for another one.
    slot.process.removeRun(slot)
    await this.#shares.acquire(program.accountId)
    const process = await this.#start(program, slot.run.id)
    if (slot.outcome) {
      this.#end(process)
      return slot.outcome
    }
    slot.process = process
    process.addRun(slot)
    process.load()
    const stopped = await slot.whenLoaded()
    process.retire()
    return stopped
  }

  releaseRun(slot: ProcessRunSlot): void {
    const { valId, accountId } = slot.process.program
    this.#turnstile.release(valId, accountId)
  }

  #slot(program: Program, run: RunListener): RunSlot | Promise<RunSlot> {
    const process = this.#byKey.get(program.key)
    // A slot may have retired it, which then is only waiting for its end.
    return process?.isOpen && this.#tryWork(process)
      ? this.#sit(process, run)
      : this.#seatLater(program, run)
  }

  /** Whether the process is at work from now on, unless it has been before. */
  #tryWork(process: ValProcess): boolean {
    if (!process.isAtWork && this.#shares.tryAcquire(process.program.accountId))
      process.isAtWork = true
    return process.isAtWork
  }

  /**
   * The module may still be loading when there is a slot: a request that is sent meanwhile waits in
   * the guest, and is answered sooner.
   */
  async #seatLater(program: Program, run: RunListener): Promise<RunSlot> {
    let process: ValProcess
    try {
      process = await this.#bind(program, run.id)
    } catch (error) {
      this.#turnstile.release(program.valId, program.accountId)
      throw error
    }
    const slot = this.#sit(process, run)
    try {
      process.load()
    } catch (error) {
      // No room left on the disk, say.
      slot.release()
      this.#end(process)
      throw error
    }
    return slot
  }

  #sit(process: ValProcess, run: RunListener): ProcessRunSlot {
    const slot = new ProcessRunSlot(run, process, this)
    process.addRun(slot)
    return slot
  }

  /** However many ask at once, one process is bound. It is at work when it is there. */
  #bind(program: Program, runId: string): Promise<ValProcess> {
    const binding = this.#binding.get(program.key)
    if (binding) return binding
    const begun = this.#findOrStart(program, runId).finally(() => this.#binding.delete(program.key))
    this.#binding.set(program.key, begun)
    return begun
  }

  async #findOrStart(program: Program, runId: string): Promise<ValProcess> {
    const { key, accountId } = program
    if (program.whenFetched) await program.whenFetched()
    await this.#shares.acquire(accountId)
    const found = this.#byKey.get(key)
    if (found?.isOpen) {
      if (found.isAtWork) this.#shares.release(accountId)
      found.isAtWork = true
      return found
    }
    const process = await this.#start(program, runId)
    this.#retireOlder(program)
    this.#byKey.set(key, process)
    return process
  }

  /**
   * Starts a process with a share of its account's, which goes back when there is none, or when it
   * has no run any more.
   */
  async #start(program: Program, runId: string): Promise<ValProcess> {
    try {
      return await this.#startAtWork(program, runId)
    } catch (error) {
      this.#shares.release(program.accountId)
      throw error
    }
  }

  async #startAtWork(program: Program, runId: string): Promise<ValProcess> {
    const askedMs = performance.now()
    // Both take their time; the sandbox must not be lost when the program cannot be read, nor the
    // program's token when there is no sandbox.
    const [taken, content] = await Promise.allSettled([this.#take(program, runId), program.load()])
    if (taken.status === "rejected") {
      if (content.status === "fulfilled") content.value.end()
      throw taken.reason
    }
    if (content.status === "rejected") {
      void taken.value.stop().then(() => this.#pool.noteBound())
      throw content.reason
    }
    const process = new ValProcess(
      program,
      content.value,
      taken.value,
      { limits: this.#limits, valueReader: this.#valueReader },
      runId,
    )
    process.onIdle = () => this.#shares.release(program.accountId)
    this.#processes.add(process)
    this.#watch(process)
    this.#pool.noteBound()
    void taken.value.exited.then(() => this.#forget(process))
    void process.loaded.then(() => this.#noteLoaded(process, askedMs))
    if (this.#isStopped) void taken.value.stop()
    return process
  }

  /** What takes all it can get is to be noticed soon after it has begun. */
  #watch(process: ValProcess): void {
    this.#cpuWatch.add(process, performance.now(), this.#isServing() ? "patient" : "normal")
    const timer = setInterval(() => {
      const nowMs = performance.now()
      this.#cpuWatch.check([process], nowMs)
      if (process.runs === 0 || nowMs - process.startedMs > youngMs) clearInterval(timer)
    }, youngSweepMs).unref()
  }

  /**
   * Whether vals are being visited that are known to be quick: whoever comes new stays out of their
   * way.
   */
  #isServing(): boolean {
    const sinceMs = performance.now() - servingMs
    for (const { runsEnded, usedMs } of this.#processes)
      if (runsEnded >= knownRuns && usedMs > sinceMs) return true
    return false
  }

  /** A process that knows already what it is to become: it wakes up while the program is read. */
  async #take(program: Program, runId: string): Promise<Sandbox> {
    const taken = this.#pool.take(program.accountId)
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

  #noteLoaded(process: ValProcess, askedMs: number): void {
    this.#coldStarts.add(performance.now() - askedMs)
    if (process.state === "serving" && (process.isCallable || process.program.type === "http"))
      return
    // What gave no function has been run by being evaluated; what did not load has nothing to run,
    // but may tell so a moment longer.
    if (process.state === "serving" || process.program.type !== "http") this.#retire(process)
    else if (process.state === "loading") process.failedMs = performance.now()
  }

  #retireOlder(program: Program): void {
    for (const process of this.#processes) {
      const other = process.program
      if (
        other.valId !== program.valId ||
        other.accountId !== program.accountId ||
        other.version > program.version
      )
        continue
      if (other.key !== program.key && other.isAnonymous === program.isAnonymous)
        this.#retire(process)
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
    this.#cpuWatch.delete(process)
    this.#pool.refill()
  }

  #hasRoom(): boolean {
    const { processesMax, memoryBytesMax, startBytes } = this.#limits
    return (
      this.#processes.size + this.#pool.size < processesMax &&
      this.#usedBytes() + startBytes <= memoryBytesMax
    )
  }

  /**
   * What all processes use, as last measured; one that was not counts as one that has done nothing
   * yet.
   */
  #usedBytes(): number {
    let bytes = this.#pool.size * this.#limits.warmBytes
    for (const process of this.#processes) bytes += this.#bytesOf(process)
    return bytes
  }

  #bytesOf(process: ValProcess): number {
    return Math.max(this.#limits.warmBytes, this.#cpuWatch.memoryOf(process))
  }

  /**
   * Ends an idle process only when a run waits, never to have one more that is ready. There is room
   * when it is gone.
   */
  #makeRoom(): boolean {
    if (this.#hasRoom()) return true
    while (this.#ending < this.#pool.waiting && this.#evict());
    return false
  }

  /**
   * Ends an idle process: of the account that has the most processes, the one that was idle for
   * longest.
   */
  #evict(): boolean {
    const counts = new Map<string, number>()
    for (const { program } of this.#processes)
      counts.set(program.accountId, (counts.get(program.accountId) ?? 0) + 1)
    const countOf = (process: ValProcess) => counts.get(process.program.accountId) ?? 0
    let chosen: ValProcess | undefined
    for (const process of this.#processes) {
      if (process.runs > 0 || process.isAtWork || process.isEnding) continue
      const difference = chosen ? countOf(process) - countOf(chosen) : 1
      if (difference > 0 || (difference === 0 && chosen && process.usedMs < chosen.usedMs))
        chosen = process
    }
    if (!chosen) return false
    this.#end(chosen)
    return true
  }

  #end(process: ValProcess, reason?: SandboxExit["reason"], message?: string): void {
    if (process.isEnding) return
    process.isEnding = true
    this.#ending++
    this.#retire(process)
    void process.sandbox.stop(reason, message)
  }

  #sweep(nowMs: number): void {
    this.#turnstile.sweep(nowMs)
    this.#shares.sweep(nowMs)
    this.#pool.sweep(nowMs)
    this.#cpuWatch.check(this.#processes, nowMs)
    for (const process of this.#processes) {
      process.sweep(nowMs)
      if (this.#isOver(process, nowMs)) this.#end(process)
      else if (nowMs - process.startedMs > this.#limits.processMsMax) this.#retire(process)
    }
    this.#keepWithinMemory(nowMs)
  }

  #isOver(process: ValProcess, nowMs: number): boolean {
    if (process.runs > 0) return false
    const idleMs = nowMs - process.usedMs
    if (process.failedMs !== undefined) return nowMs - process.failedMs > failureKeptMs
    // What runs have left behind may go on as long as they might have.
    return (
      idleMs >
      (process.state === "retiring" && process.isCallable
        ? this.#limits.runMsMax
        : this.#limits.idleMsMax)
    )
  }

  /** Ends one process at a time: what it used is known to be free when it is gone. */
  #keepWithinMemory(nowMs: number): void {
    const bytesOf = new Map<string, number>()
    for (const process of this.#processes) {
      if (!process.isAtWork) continue
      const { accountId } = process.program
      bytesOf.set(accountId, (bytesOf.get(accountId) ?? 0) + this.#bytesOf(process))
    }
    this.#shares.noteMemory(bytesOf)
    if (this.#ending > 0) return
    const freeBytes = this.#limits.memoryBytesMax - this.#usedBytes()
    if (freeBytes < 0 && this.#evict()) return
    const [most] = [...bytesOf].sort(([, a], [, b]) => b - a)
    if (
      most &&
      (freeBytes < 0 ||
        (freeBytes < this.#limits.startBytes && this.#pool.isAwaitedBeside(most[0])))
    )
      this.#endAtWork(most[0], (process) => this.#bytesOf(process), "memory", memoryUsedUp)
    const debtor = this.#shares.findAccountToReduce(nowMs)
    if (debtor !== undefined)
      this.#endAtWork(debtor, (process) => nowMs - process.startedMs, "killed", processesUsedUp)
  }

  /** Ends the process at work of the account that is worth the most. */
  #endAtWork(
    accountId: string,
    worthOf: (process: ValProcess) => number,
    reason: SandboxExit["reason"],
    message: string,
  ): void {
    let chosen: ValProcess | undefined
    for (const process of this.#processes) {
      if (!process.isAtWork || process.program.accountId !== accountId || process.isEnding) continue
      if (!chosen || worthOf(process) > worthOf(chosen)) chosen = process
    }
    if (chosen) this.#end(chosen, reason, message)
  }
}
