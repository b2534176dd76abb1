import type { GuestMessage, PackagesUse } from "@hamlet/guest/protocol"
import { type Mask, truncateError, truncateMasked } from "@hamlet/kit"
import { GuestClient } from "../guest-client/guest-client.ts"
import type { Substitution } from "../program/outgoing-request.ts"
import type { Program, ProgramContent, RunError, RunListener, Stopped } from "../program/runner.ts"
import type { EgressClient } from "../sandboxes/egress-listener.ts"
import type { Sandbox, SandboxExit } from "../sandboxes/sandbox.ts"
import { type ActiveRun, RecentlyEndedRuns } from "./active-runs.ts"
import { FileReads } from "./file-reads.ts"
import { programLimits } from "./program-limits.ts"
import type { RunnerLimits } from "./runner-limits.ts"

/** The most control messages that change nothing. A guest never sends such messages. */
const idleMessagesMax = 10_000

/** How long a process whose module did not load stays, so that requests get the same error. */
const failureKeptMs = 1_000

/** How long the last messages may take, from the stop of a process to its end. */
const endingMsMax = 5_000

/** The result of loading the module. */
export type LoadOutcome = { readonly kind: "loaded" } | Stopped

/**
 * A sandbox that is bound to one program until it ends.
 *
 * ```
 *   warm sandbox      the module     retire(): a newer version,    its runs have
 *   of the pool       is loaded      a limit, a cancelled run      ended
 *   ───── bind ─▶ loading ─────▶ serving ─────▶ retiring ─────▶ gone
 *                    │               │              │             ▲
 *                    └───────────────┴──────────────┴─────────────┘
 *                       stop(), a crash, or a limit: its runs end with it
 *
 *   isOpen      takes new runs             loading, serving
 *   isAtWork    holds a share of its       from the binding, or a new run,
 *               account (ProcessShares)    until its last run is released
 *   isEnding    has been told to stop      until it is gone
 * ```
 */
export class ProgramProcess implements EgressClient {
  readonly program: Program
  readonly sandbox: Sandbox
  /** Sends requests to the guest. */
  readonly client: GuestClient
  readonly startedMs = performance.now()
  readonly loaded: Promise<LoadOutcome>
  /** False for a module that exports no function. Each call of it needs a fresh process. */
  isCallable = true
  state: "loading" | "serving" | "retiring" | "gone" = "loading"
  /** When loading the module failed. */
  failedMs: number | undefined
  runsEnded = 0
  isAtWork = true
  /** Called when it has no run any more, so that its share can be released. */
  onIdle: (() => void) | undefined
  isEnding = false
  /** When a run was last added or removed. */
  usedMs = performance.now()
  readonly limits: RunnerLimits
  #content: ProgramContent
  readonly #settle = Promise.withResolvers<LoadOutcome>()
  /** By run id. */
  readonly #activeRuns = new Map<string, ActiveRun>()
  readonly #endedRuns: RecentlyEndedRuns
  readonly #fileReads: FileReads
  readonly #firstRunId: string
  readonly egressKey = crypto.randomUUID()
  #isLoading = false
  #hasLoaded = false
  #idleMessages = 0
  /** When the guest was asked for a sign of life that has not come. */
  #askedMs: number | undefined

  constructor(
    program: Program,
    content: ProgramContent,
    sandbox: Sandbox,
    limits: RunnerLimits,
    firstRunId: string,
  ) {
    this.program = program
    this.sandbox = sandbox
    this.client = new GuestClient(sandbox.socketPath)
    this.loaded = this.#settle.promise
    this.#content = content
    this.limits = limits
    this.#endedRuns = new RecentlyEndedRuns(limits.lateRunsMax)
    this.#firstRunId = firstRunId
    this.#fileReads = new FileReads(program.readFile, (reply) => sandbox.send(reply))
    sandbox.onMessage = (message) => this.#receive(message)
    void sandbox.exited.then((exit) => this.#end(exit))
  }

  /** Whether the guest was sent the program, or is about to be. */
  get isLoadRequested(): boolean {
    return this.#isLoading
  }

  /**
   * Sends the program to the guest. The first run must have a slot: it gets what the module logs
   * while it is evaluated. Rejects if its modules cannot be written.
   */
  async load(): Promise<void> {
    if (this.#isLoading || this.isEnding) return
    this.#isLoading = true
    const { sandbox, egressKey } = this
    sandbox.egressListener?.setClient(this)
    sandbox.send({ kind: "surroundings", env: this.#content.env, egressKey })
    const { bundles, modules } = this.#content
    // The sandbox gets a copy. Here they would use memory as long as the process lives.
    this.#content = { ...this.#content, modules: [], bundles: [], env: {} }
    await sandbox.addModules(modules)
    const builtIns = listBuiltIns(modules)
    const begin = (packages: PackagesUse) => sandbox.send({ kind: "begin", builtIns, packages })
    if (bundles.length > 0) void sandbox.addBundles(bundles).then(begin)
    else begin("none")
  }

  get ownerId(): string {
    return this.program.accountId
  }

  get substitutions(): readonly Substitution[] {
    return this.#content.substitutions
  }

  findRun(runId: string | undefined): {
    readonly run: RunListener | undefined
    readonly depth: number
  } {
    const named = runId === undefined ? undefined : this.#findRun(runId)
    if (named && this.#activeRuns.has(named.run.id))
      return { run: named.run, depth: named.run.depth }
    // A request that names no run belongs to the only active run, if there is only one.
    const activeRun =
      named ?? (this.#activeRuns.size === 1 ? this.#activeRuns.values().next().value : undefined)
    return { run: activeRun?.run, depth: this.#findDepth() }
  }

  findSocketRun(last: RunListener | undefined): RunListener | undefined {
    if (last && this.#activeRuns.has(last.id)) return last
    return this.#activeRuns.size === 1 ? this.#activeRuns.values().next().value?.run : undefined
  }

  /** Called when the outcome of a run is known: its list of traffic is complete then. */
  noteRunEnd(run: RunListener): void {
    this.sandbox.egressListener?.noteRunEnd(run)
  }

  get runs(): number {
    return this.#activeRuns.size
  }

  get isOpen(): boolean {
    return this.state === "loading" || this.state === "serving"
  }

  /** Whether it has had no run for so long that it can end. */
  isUnused(nowMs: number): boolean {
    if (this.runs > 0) return false
    if (this.failedMs !== undefined) return nowMs - this.failedMs > failureKeptMs
    const { runMsMax, idleMsMax } = this.limits
    // What its runs have left running may go on for as long as a run may take.
    const isRetired = this.state === "retiring" && this.isCallable
    return nowMs - this.usedMs > (isRetired ? runMsMax : idleMsMax)
  }

  /** Ends the runs that take too long. */
  sweep(nowMs: number): void {
    for (const activeRun of this.#activeRuns.values()) activeRun.sweep(nowMs)
    this.client.sweep(nowMs)
    if (this.#askedMs !== undefined && nowMs - this.#askedMs > this.limits.stuckMsMax)
      void this.sandbox.stop("killed", "it did not respond after one of its runs was ended")
  }

  /**
   * Called when a run was ended beside others. An endless loop can only be ended with its process, and
   * keeps all other runs from going on.
   */
  askForSign(): void {
    if (this.#askedMs !== undefined || this.state === "gone") return
    this.#askedMs = performance.now()
    this.sandbox.send({ kind: "ping" })
  }

  /**
   * Whether this process can run a call of this run: a module without a function has run when it
   * was evaluated, which serves its first run only.
   */
  canCallFor(runId: string): boolean {
    return this.isCallable || runId === this.#firstRunId
  }

  addRun(activeRun: ActiveRun): void {
    this.usedMs = activeRun.startedMs
    this.#activeRuns.set(activeRun.run.id, activeRun)
  }

  removeRun(activeRun: ActiveRun): void {
    if (!this.#activeRuns.delete(activeRun.run.id)) return
    this.noteRunEnd(activeRun.run)
    this.#endedRuns.add(activeRun)
    this.runsEnded++
    this.usedMs = performance.now()
    if (this.#activeRuns.size === 0) this.#becomeIdle()
    if (this.state === "retiring" && this.#activeRuns.size === 0 && !this.isCallable)
      void this.sandbox.stop()
  }

  /** Takes no new runs. The process ends when its runs have ended, or their time is over. */
  retire(): void {
    if (this.state !== "gone") this.state = "retiring"
  }

  get secretMask(): Mask {
    return this.#content.mask
  }

  mask(text: string, charsMax?: number): string {
    return this.secretMask.hide(text, charsMax)
  }

  maskError(error: RunError): RunError {
    return truncateError(error, programLimits.valueBytesMax, this.secretMask)
  }

  #receive(message: GuestMessage): void {
    switch (message.kind) {
      case "log": {
        const activeRun = this.#findRun(message.run)
        if (!activeRun) return
        const { at, level, message: text } = message
        const room = activeRun.run.logBytesLeft ?? programLimits.logBytesMax
        // Text that is not kept is not searched for secrets.
        if (room <= 0) activeRun.run.skipLogs(1)
        else
          activeRun.run.log({
            at: new Date(at).toISOString(),
            level,
            message: truncateMasked(text, room, this.secretMask),
          })
        activeRun.noteLog()
        return
      }
      case "logs_skipped":
        this.#findRun(message.run)?.run.skipLogs(message.lines)
        return
      case "uncaught":
        this.#findRun(message.run)?.run.fail(this.maskError(message.error))
        return
      case "refused":
        this.#activeRuns.get(message.run)?.noteRefusal(message)
        return
      case "read_file":
        if (!this.#fileReads.add(message.id, message.path))
          void this.sandbox.stop("protocol", "it asked for too many files at once")
        return
      case "loaded":
        if (this.#hasLoaded) break
        this.#hasLoaded = true
        this.isCallable = message.isCallable
        // A process that was retired meanwhile stays retired, and still serves its runs.
        if (this.state === "loading") this.state = "serving"
        this.#settle.resolve({ kind: "loaded" })
        return
      case "load_failed":
        if (this.#hasLoaded) break
        this.#hasLoaded = true
        this.#settle.resolve({
          kind: "stopped",
          status: "failed",
          error: this.maskError(message.error),
        })
        return
      case "pong":
        if (this.#askedMs === undefined) break
        this.#askedMs = undefined
        return
      case "warm":
    }
    // A guest sends none of these now, but a program that has found the socket may.
    if (++this.#idleMessages === idleMessagesMax)
      void this.sandbox.stop(
        "protocol",
        `it sent ${idleMessagesMax} control messages without effect`,
      )
  }

  /**
   * A guest may only send messages about runs of this process, up to `runMsMax` after the start. The
   * last messages of a process that is being stopped may arrive a moment later.
   */
  #findRun(runId: string): ActiveRun | undefined {
    const msMax = this.limits.runMsMax + (this.state === "retiring" ? endingMsMax : 0)
    return this.#activeRuns.get(runId) ?? this.#endedRuns.find(runId, performance.now() - msMax)
  }

  /**
   * The greatest depth of all runs that `#findRun` finds: a request after the response, or one that
   * names no run, may be part of an endless chain of programs that call each other.
   */
  #findDepth(): number {
    let depth = this.#endedRuns.findDepth(performance.now() - this.limits.runMsMax)
    for (const { run } of this.#activeRuns.values()) depth = Math.max(depth, run.depth)
    return depth
  }

  #becomeIdle(): void {
    if (!this.isAtWork) return
    this.isAtWork = false
    this.onIdle?.()
  }

  #end(exit: SandboxExit): void {
    this.state = "gone"
    const error: RunError = { name: "ProcessEnded", message: exit.message }
    this.#settle.resolve({ kind: "stopped", status: "crashed", error })
    for (const activeRun of [...this.#activeRuns.values()])
      activeRun.endWith({ kind: "stopped", status: "crashed", error })
    this.client.stop()
    this.#fileReads.stop()
    this.#endedRuns.clear()
    this.#content.end()
    this.#becomeIdle()
  }
}

/**
 * The modules of Node that the code mentions, without `node:`. A mention that is no import does no
 * harm: the guest prepares a module that the program does not use.
 */
export function listBuiltIns(modules: readonly { readonly code: string }[]): string[] {
  const names = new Set<string>()
  for (const { code } of modules)
    if (code.includes("node:")) for (const [, name = ""] of code.matchAll(mention)) names.add(name)
  return [...names]
}

const mention = /["'`]node:([a-z0-9_]+)/g
