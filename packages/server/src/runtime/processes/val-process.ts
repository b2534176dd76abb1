import { limits as wire } from "@hamlet/contract"
import type { GuestMessage, Refused } from "@hamlet/guest/protocol"
import type { Substitution } from "../../domain/egress.ts"
import type { Program, ProgramContent, RunListener, Stopped } from "../../domain/runs/runner.ts"
import type { RunError } from "../../domain/runs/runs.ts"
import { truncateError, truncateMasked } from "../../domain/runs/truncate.ts"
import type { Mask } from "../../domain/secrets/secret-mask.ts"
import { GuestClient } from "../guest-client/guest-client.ts"
import type { GuestValueReader } from "../guest-client/guest-value-reader.ts"
import type { EgressClient } from "../sandbox/egress-listener.ts"
import type { Sandbox, SandboxExit } from "../sandbox/sandbox.ts"
import type { ActiveRun } from "./active-run.ts"
import { RecentlyEndedRuns } from "./recently-ended-runs.ts"
import type { RunnerLimits } from "./runner-limits.ts"

/** Messages that change nothing, and that a guest therefore does not send. */
const idleMessagesMax = 10_000

/** How the module came out. */
export type LoadOutcome = { readonly kind: "loaded" } | Stopped

/**
 * A sandbox that serves one program, until it ends.
 *
 *   loading ──▶ serving ──▶ retiring ──▶ gone        `retire` lets the runs inside end; `stop` does not
 *      └───────────┴───────────┴──────────▲
 */
export class ValProcess implements EgressClient {
  readonly program: Program
  readonly sandbox: Sandbox
  /** Sends requests to it. */
  readonly client: GuestClient
  readonly startedMs = performance.now()
  readonly loaded: Promise<LoadOutcome>
  /** False for a module without a function to call: each call of it needs a process of its own. */
  isCallable = true
  state: "loading" | "serving" | "retiring" | "gone" = "loading"
  /** When the module turned out not to load. */
  failedMs: number | undefined
  runsEnded = 0
  /** It has a run, or is about to get one, and takes a share of what its account may have. */
  isAtWork = true
  /** The share can go back. */
  onIdle: (() => void) | undefined
  /** It has been told to end, and will be gone in a moment. */
  isEnding = false
  /** When a run last came or left. */
  usedMs = performance.now()
  readonly limits: RunnerLimits
  readonly valueReader: GuestValueReader
  #content: ProgramContent
  readonly #settle = Promise.withResolvers<LoadOutcome>()
  /** Whoever is waiting for an answer. */
  readonly #activeRuns = new Map<string, ActiveRun>()
  readonly #late: RecentlyEndedRuns
  readonly #refusals = new Map<string, Refused>()
  readonly #firstRunId: string
  readonly egressKey = crypto.randomUUID()
  #isLoading = false
  #hasLoaded = false
  #idleMessages = 0

  constructor(
    program: Program,
    content: ProgramContent,
    sandbox: Sandbox,
    {
      limits,
      valueReader,
    }: { readonly limits: RunnerLimits; readonly valueReader: GuestValueReader },
    firstRunId: string,
  ) {
    this.program = program
    this.sandbox = sandbox
    this.client = new GuestClient(sandbox.socketPath)
    this.loaded = this.#settle.promise
    this.#content = content
    this.limits = limits
    this.valueReader = valueReader
    this.#late = new RecentlyEndedRuns(limits.lateRunsMax)
    this.#firstRunId = firstRunId
    sandbox.onMessage = (message) => this.#hear(message)
    void sandbox.exited.then((exit) => this.#end(exit))
  }

  /**
   * Hands over what belongs to the program. The run that waits for it must have a run slot: what
   * the module logs while it is evaluated is that run's.
   */
  load(): void {
    if (this.#isLoading) return
    this.#isLoading = true
    const { sandbox, egressKey } = this
    sandbox.egressListener?.setClient(this)
    sandbox.send({ kind: "surroundings", env: this.#content.env, egressKey })
    sandbox.addModules(this.#content.modules)
    sandbox.addBundles(this.#content.bundles)
    sandbox.send({ kind: "begin" })
    // All of it is in the sandbox now; here it would be held as long as the process lives.
    this.#content = { ...this.#content, modules: [], bundles: [], env: {} }
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
    const said = runId === undefined ? undefined : this.#findRun(runId)
    if (said && this.#activeRuns.has(said.run.id)) return { run: said.run, depth: said.run.depth }
    // Whatever does not say whose it is can only be of the one that is here.
    const activeRun =
      said ?? (this.#activeRuns.size === 1 ? this.#activeRuns.values().next().value : undefined)
    return { run: activeRun?.run, depth: this.#findDepth() }
  }

  get runs(): number {
    return this.#activeRuns.size
  }

  /** Whether it takes new runs. */
  get isOpen(): boolean {
    return this.state === "loading" || this.state === "serving"
  }

  /** Ends what has taken its time. */
  sweep(nowMs: number): void {
    for (const activeRun of this.#activeRuns.values()) activeRun.sweep(nowMs)
    this.client.sweep(nowMs)
  }

  /** Whether a call on behalf of this run may use what the module gave when it was evaluated. */
  canCallFor(runId: string): boolean {
    return this.isCallable || runId === this.#firstRunId
  }

  addRun(activeRun: ActiveRun): void {
    this.usedMs = activeRun.startedMs
    this.#activeRuns.set(activeRun.run.id, activeRun)
  }

  removeRun(activeRun: ActiveRun): void {
    if (!this.#activeRuns.delete(activeRun.run.id)) return
    this.#late.add(activeRun)
    this.runsEnded++
    this.usedMs = performance.now()
    if (this.#refusals.size > 0) this.#refusals.delete(activeRun.run.id)
    if (this.#activeRuns.size === 0) this.#rest()
    if (this.state === "retiring" && this.#activeRuns.size === 0 && !this.isCallable)
      void this.sandbox.stop()
  }

  /** No new runs; the process ends when those inside have, or their time is over. */
  retire(): void {
    if (this.state !== "gone") this.state = "retiring"
  }

  takeRefusal(runId: string): Refused | undefined {
    const refusal = this.#refusals.get(runId)
    this.#refusals.delete(runId)
    return refusal
  }

  get secretMask(): Mask {
    return this.#content.mask
  }

  mask(text: string): string {
    return this.secretMask.hide(text)
  }

  maskError(error: RunError): RunError {
    return truncateError(error, wire.runValueBytesMax, this.secretMask)
  }

  #hear(message: GuestMessage): void {
    switch (message.kind) {
      case "log": {
        const activeRun = this.#findRun(message.run)
        if (!activeRun) return
        const { at, level, message: text } = message
        const room = activeRun.run.logBytesLeft ?? wire.runLogBytesMax
        // Nothing is looked through that is not kept.
        activeRun.run.log({
          at: new Date(at).toISOString(),
          level,
          message: room > 0 ? truncateMasked(text, room, this.secretMask) : "",
        })
        activeRun.noteLog()
        return
      }
      case "logs_cut":
        this.#findRun(message.run)?.run.noteTruncatedLogs()
        return
      case "uncaught":
        this.#findRun(message.run)?.run.fail(this.maskError(message.error))
        return
      case "refused":
        if (this.#findRun(message.run)) this.#refusals.set(message.run, message)
        return
      case "loaded":
        if (this.#hasLoaded) break
        this.#hasLoaded = true
        this.isCallable = message.isCallable
        // A process that was retired meanwhile still has the runs that wait for the module.
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
      case "warm":
      case "pong":
    }
    // A guest says none of these now; a val that has found the socket may.
    if (++this.#idleMessages === idleMessagesMax)
      void this.sandbox.stop(
        "protocol",
        `it sent ${idleMessagesMax} control messages that say nothing`,
      )
  }

  /**
   * Only runs that are here, and not for longer than a run may last after its start, can be spoken
   * about.
   */
  #findRun(runId: string): ActiveRun | undefined {
    return (
      this.#activeRuns.get(runId) ??
      this.#late.find(runId, performance.now() - this.limits.runMsMax)
    )
  }

  /**
   * Of the deepest of the runs that can be spoken about: what goes on after an answer, or says
   * nothing, may be a chain without an end.
   */
  #findDepth(): number {
    let depth = this.#late.findDepth(performance.now() - this.limits.runMsMax)
    for (const { run } of this.#activeRuns.values()) depth = Math.max(depth, run.depth)
    return depth
  }

  #rest(): void {
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
    this.#late.clear()
    this.#content.end()
    this.#rest()
  }
}
