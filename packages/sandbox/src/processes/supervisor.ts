import { Histogram, Refused, type Sharing } from "@hamlet/kit"
import { CpuWatch } from "../cpu-priority/cpu-watch.ts"
import { GuestValueReader } from "../guest-client/guest-value-reader.ts"
import type {
  Client,
  ExpectedStart,
  Program,
  RunListener,
  Runner,
  RunnerStatus,
  RunSlot,
  SavedText,
  Stopped,
} from "../program/runner.ts"
import type { Sandbox, SandboxExit } from "../sandboxes/sandbox.ts"
import { Pool, type PoolSource, type SandboxSource } from "./pool.ts"
import { countUsedBytes, enforceBudget, makeRoom, type ProcessBudget } from "./process-budget.ts"
import { ProcessShares } from "./process-shares.ts"
import { ProgramProcess } from "./program-process.ts"
import { RunLimiter } from "./run-limiter.ts"
import { ProcessRunSlot, type RunSlotOwner } from "./run-slot.ts"
import type { RunnerLimits } from "./runner-limits.ts"

const sweepMs = 100
/** The CPU use of a process is checked more often while its first run goes on, up to `youngMs`. */
const youngSweepMs = 25
const youngMs = 1_000
/** A program is known to be quick after this many runs. */
const knownRuns = 10
/** A process is serving when a run began or ended within this time. */
const servingMs = 200
/**
 * The guest sends this much more of a log than a run keeps. The host truncates it after masking, so
 * that a secret across the cut is masked too.
 */
const logSlackBytes = 1_024

/**
 * Runs programs in processes. It gives each run a slot in a process of its program, binds a warm
 * process to the program when there is none, keeps all processes within the limits, and ends them.
 *
 * ```
 *   acquire ──▶ RunLimiter ──▶ open process of the program? ──▶ RunSlot ──▶ run ──▶ release
 *               runs at once          │ no                         ▲
 *                                     ▼                            │ bind, load
 *                               ProcessShares ──▶ Pool ──▶ ProgramProcess
 *                               processes per     warm       one program,
 *                               account           sandboxes  until it ends
 * ```
 */
export class Supervisor implements Runner, RunSlotOwner {
  readonly #source: SandboxSource
  readonly #limits: RunnerLimits
  readonly #runLimiter: RunLimiter
  readonly #shares: ProcessShares
  readonly #pool: Pool
  readonly #cpuWatch: CpuWatch
  readonly #budget: ProcessBudget
  readonly #coldStarts = new Histogram()
  readonly valueReader = new GuestValueReader()
  /** Every process that is bound to a program. */
  readonly #processes = new Set<ProgramProcess>()
  /** The processes that take new runs, by the key of their program. */
  readonly #openByKey = new Map<string, ProgramProcess>()
  /** Processes that are being bound, by the key of their program. */
  readonly #binding = new Map<string, Promise<ProgramProcess>>()
  readonly #timer: ReturnType<typeof setInterval>
  #isStopped = false

  constructor(source: SandboxSource, limits: RunnerLimits, sharing?: Sharing) {
    this.#source = source
    this.#limits = limits
    this.#runLimiter = new RunLimiter(limits, sharing)
    this.#shares = new ProcessShares(limits)
    this.#cpuWatch = new CpuWatch(limits.cpuMsMax, () => this.#pool.uncountLastTake())
    const patient: PoolSource = {
      launch: (isAwaited) => source.launch(isAwaited && !this.#isServing()),
      hurry: () => (this.#isServing() ? undefined : source.hurry()),
      onAvailability: (problem) => source.onAvailability(problem),
    }
    this.#pool = new Pool(patient, limits, () => makeRoom(this.#budget))
    this.#budget = {
      limits,
      processes: this.#processes,
      pool: this.#pool,
      shares: this.#shares,
      memoryOf: (process) => this.#cpuWatch.memoryOf(process),
      end: (process, reason, message) => this.#end(process, reason, message),
    }
    this.#timer = setInterval(() => this.#sweep(performance.now()), sweepMs)
  }

  /** Starts the first warm processes. */
  start(): void {
    this.#pool.refill()
  }

  status(): RunnerStatus {
    return {
      isolation: this.#source.isolation(),
      processes: this.#processes.size + this.#pool.size,
      ready: this.#pool.ready,
      runs: this.#runLimiter.active,
      problem: this.#pool.problem,
      memoryBytes: countUsedBytes(this.#budget),
      memoryBytesMax: this.#limits.memoryBytesMax,
      coldStarts: this.#coldStarts,
      waiting: this.#runLimiter.waiting + this.#shares.waiting + this.#pool.waiting,
    }
  }

  async acquire(program: Program, run: RunListener, client?: Client): Promise<RunSlot> {
    this.#assertRunning()
    const turn = this.#runLimiter.acquire(program.group, program.accountId, client)
    if (turn !== undefined) {
      const sinceMs = performance.now()
      await turn
      run.work?.noteWait("queue", sinceMs)
    }
    const process = this.#openByKey.get(program.key)
    // A slot may have retired the process without the supervisor.
    if (!process?.isOpen || !this.#tryWork(process))
      return this.#bindAndOpenSlot(program, run, client)
    return run.begin || !process.isLoadRequested
      ? this.#openSlot(process, run)
      : this.#addSlot(process, run)
  }

  prepare(ownerId: string, texts: readonly SavedText[]): void {
    this.#source.transpile?.(ownerId, texts)
  }

  expect(starts: readonly ExpectedStart[]): void {
    this.#pool.expect(starts)
  }

  retire(selection: unknown): void {
    for (const process of this.#processes)
      if (process.program.isMeant(selection)) this.#retire(process)
  }

  endAll(selection: unknown): void {
    for (const process of this.#processes)
      if (process.program.isMeant(selection)) this.#end(process)
  }

  runsOf(accountId: string): number {
    return this.#runLimiter.activeOf(accountId)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    this.#runLimiter.stop()
    this.#shares.stop()
    await Promise.all([
      this.#pool.stop(),
      ...[...this.#processes].map((process) => process.sandbox.stop()),
    ])
    await this.valueReader.stop()
  }

  async moveToFreshProcess(slot: ProcessRunSlot): Promise<Stopped | undefined> {
    const { program } = slot.process
    // First, so that the run does not hold a share while it waits for another.
    slot.process.removeRun(slot)
    await this.#shares.acquire(program.accountId)
    const process = await this.#startProcess(program, slot.run.id)
    if (slot.outcome) {
      this.#end(process)
      return slot.outcome
    }
    slot.process = process
    process.addRun(slot)
    await process.load()
    const stopped = await slot.whenLoaded()
    process.retire()
    return stopped
  }

  releaseRun(slot: ProcessRunSlot): void {
    const { group, accountId } = slot.process.program
    this.#runLimiter.release(group, accountId)
  }

  #assertRunning(): void {
    if (this.#isStopped)
      throw new Refused("overloaded", "Cannot run the program: the server is stopping")
  }

  /** Whether the process has a share of its account, or gets one now. */
  #tryWork(process: ProgramProcess): boolean {
    if (!process.isAtWork && this.#shares.tryAcquire(process.program.accountId))
      process.isAtWork = true
    return process.isAtWork
  }

  /**
   * The slot exists before the module is loaded. A request that is sent meanwhile waits in the
   * guest, which responds sooner than if it were sent after the module has loaded.
   */
  async #bindAndOpenSlot(program: Program, run: RunListener, client?: Client): Promise<RunSlot> {
    const sinceMs = performance.now()
    let process: ProgramProcess
    try {
      do {
        this.#assertRunning()
        client?.signal.throwIfAborted()
        process = await this.#bind(program, run.id)
        if (process.state === "retiring" && process.runs === 0) this.#end(process)
        // Another run that waited for the process may have been cancelled, and have stopped it.
      } while (process.state === "retiring" || !this.#tryWork(process))
    } catch (error) {
      this.#runLimiter.release(program.group, program.accountId)
      throw error
    }
    run.work?.noteWait("process", sinceMs)
    return this.#openSlot(process, run)
  }

  async #openSlot(process: ProgramProcess, run: RunListener): Promise<RunSlot> {
    const slot = this.#addSlot(process, run)
    try {
      if (run.begin) await run.begin(slot)
      await process.load()
      return slot
    } catch (error) {
      // The run was taken from this node, or the disk is full.
      slot.release()
      if (process.runs === 0 && process.state === "loading") this.#end(process)
      throw error
    }
  }

  #addSlot(process: ProgramProcess, run: RunListener): ProcessRunSlot {
    const slot = new ProcessRunSlot(run, process, this)
    process.addRun(slot)
    return slot
  }

  /** Binds one process to the program, however many runs ask at once. It is at work then. */
  #bind(program: Program, runId: string): Promise<ProgramProcess> {
    const binding = this.#binding.get(program.key)
    if (binding) return binding
    const started = this.#findOrStart(program, runId).finally(() =>
      this.#binding.delete(program.key),
    )
    this.#binding.set(program.key, started)
    return started
  }

  async #findOrStart(program: Program, runId: string): Promise<ProgramProcess> {
    const { key, accountId } = program
    if (program.whenFetched) await program.whenFetched()
    await this.#shares.acquire(accountId)
    const open = this.#openByKey.get(key)
    if (open?.isOpen) {
      if (open.isAtWork) this.#shares.release(accountId)
      open.isAtWork = true
      return open
    }
    const process = await this.#startProcess(program, runId)
    this.#retireOlder(program)
    this.#openByKey.set(key, process)
    return process
  }

  /**
   * Starts a process for which the account has acquired a share. The share is released when the
   * start fails, or when the process has no run any more.
   */
  async #startProcess(program: Program, runId: string): Promise<ProgramProcess> {
    try {
      return await this.#bindSandbox(program, runId)
    } catch (error) {
      this.#shares.release(program.accountId)
      throw error
    }
  }

  async #bindSandbox(program: Program, runId: string): Promise<ProgramProcess> {
    const acquiredMs = performance.now()
    // At the same time, since both take long. When one fails, the other must not leak.
    const [taken, content] = await Promise.allSettled([
      this.#takeSandbox(program, runId),
      program.load(),
    ])
    if (taken.status === "rejected") {
      if (content.status === "fulfilled") content.value.end()
      throw taken.reason
    }
    const sandbox = taken.value
    if (content.status === "rejected") {
      void sandbox.stop().then(() => this.#pool.noteBound())
      throw content.reason
    }
    const process = new ProgramProcess(program, content.value, sandbox, this.#limits, runId)
    process.onIdle = () => this.#shares.release(program.accountId)
    this.#processes.add(process)
    this.#watchCpu(process)
    this.#pool.noteBound()
    void sandbox.exited.then(() => this.#delete(process))
    void process.loaded.then(() => this.#noteLoaded(process, acquiredMs))
    if (this.#isStopped) void sandbox.stop()
    return process
  }

  /** Checks a new process often, so that one which takes all the CPU is noticed soon. */
  #watchCpu(process: ProgramProcess): void {
    this.#cpuWatch.add(process, performance.now(), this.#isServing() ? "patient" : "normal")
    const timer = setInterval(() => {
      const nowMs = performance.now()
      this.#cpuWatch.check([process], nowMs)
      if (process.runs === 0 || nowMs - process.startedMs > youngMs) clearInterval(timer)
    }, youngSweepMs).unref()
  }

  /** Whether programs that are known to be quick have runs now. New processes must not slow them. */
  #isServing(): boolean {
    const sinceMs = performance.now() - servingMs
    for (const { runsEnded, usedMs } of this.#processes)
      if (runsEnded >= knownRuns && usedMs > sinceMs) return true
    return false
  }

  /** Tells the guest at once which program it gets: it prepares while the program is read. */
  async #takeSandbox(program: Program, runId: string): Promise<Sandbox> {
    const sandbox = await this.#pool.take(program.accountId)
    const { entryUrl: url, label, endpoint, isHttp } = program
    const { logBytesMax, returnBytesMax } = this.#limits
    sandbox.send({
      kind: "load",
      url,
      label,
      runId,
      scheme: endpoint.slice(0, endpoint.indexOf(":")),
      endpoint,
      isHttp,
      limits: { logBytesMax: logBytesMax + logSlackBytes, returnBytesMax },
    })
    return sandbox
  }

  #noteLoaded(process: ProgramProcess, acquiredMs: number): void {
    this.#coldStarts.add(performance.now() - acquiredMs)
    const { state, isCallable, program } = process
    if (state === "serving" && (isCallable || program.isHttp)) return
    // A module without a function has run when it was evaluated. A module that did not load has
    // nothing to run; an HTTP program keeps its process a moment longer to respond with the error.
    if (state === "serving" || !program.isHttp) this.#retire(process)
    else if (state === "loading") process.failedMs = performance.now()
  }

  #retireOlder(program: Program): void {
    for (const process of this.#processes) {
      const other = process.program
      if (
        other.line === program.line &&
        other.accountId === program.accountId &&
        other.version <= program.version &&
        other.key !== program.key
      )
        this.#retire(process)
    }
  }

  #retire(process: ProgramProcess): void {
    process.retire()
    const { key } = process.program
    if (this.#openByKey.get(key) === process) this.#openByKey.delete(key)
  }

  #end(process: ProgramProcess, reason?: SandboxExit["reason"], message?: string): void {
    if (process.isEnding) return
    process.isEnding = true
    this.#retire(process)
    void process.sandbox.stop(reason, message)
  }

  /** The process is gone. */
  #delete(process: ProgramProcess): void {
    this.#retire(process)
    this.#processes.delete(process)
    this.#cpuWatch.delete(process)
    this.#pool.refill()
  }

  #sweep(nowMs: number): void {
    this.#pool.sweep()
    this.#cpuWatch.check(this.#processes, nowMs)
    for (const process of this.#processes) {
      process.sweep(nowMs)
      if (process.isUnused(nowMs)) this.#end(process)
      else if (nowMs - process.startedMs > this.#limits.processMsMax) this.#retire(process)
    }
    enforceBudget(this.#budget, nowMs)
  }
}
