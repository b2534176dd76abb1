import { Loop, toRetryDelay } from "@hamlet/kit"
import type { Claim, ClaimQueue } from "../domain/claims.ts"
import { workBackoff } from "../domain/queue/work-backoff.ts"

export interface ClaimWorkerOptions<OneClaim extends Claim> {
  readonly claims: ClaimQueue<OneClaim>
  /**
   * Makes one attempt and records its outcome. If it throws, the attempt has failed. The signal is
   * aborted when the server stops, after which another node may claim the work at once, and when
   * another node has declared this one gone.
   */
  work(claim: OneClaim, signal: AbortSignal): Promise<void>
  /** Claims that are worked on at the same time. */
  readonly concurrencyMax: number
  /** How often to look for work whose notice was lost, or that other nodes have not done. */
  readonly pollMs: number
  /** How long work may take to finish when the server stops. Then it is aborted. */
  readonly stopMs: number
  onError(error: unknown, step?: string): void
}

/** The pause after the database failed. */
const failedMs = 5_000

/** Work that is going on. */
interface Working {
  readonly abort: AbortController
  readonly ended: Promise<void>
}

/** Claims due work and does it, with limited concurrency. */
export class ClaimWorker<OneClaim extends Claim = Claim> {
  readonly #options: ClaimWorkerOptions<OneClaim>
  readonly #working = new Map<OneClaim, Working>()
  readonly #loop: Loop
  #unlisten: (() => void) | undefined
  /** When it last looked for work of nodes that are gone, which it does not for every row that is added. */
  #takenOverMs = Number.NEGATIVE_INFINITY
  /** How often this node has lost its lease, and the claims that were taken from it. */
  #losses = 0
  readonly #lost = new WeakSet<OneClaim>()

  constructor(options: ClaimWorkerOptions<OneClaim>) {
    this.#options = options
    const { pollMs, onError } = options
    this.#loop = new Loop({ round: () => this.#claimAll(), pollMs, failedMs, onError })
  }

  start(): void {
    this.#unlisten ??= this.#options.claims.listen(() => this.wake())
    this.#loop.start()
  }

  /** Looks for work now. */
  wake(): void {
    this.#loop.wake()
  }

  /** Claims no more, and waits a moment for the work that is going on. */
  async stop(): Promise<void> {
    this.#unlisten?.()
    await this.#loop.stop()
    const timer = setTimeout(() => this.#abortAll(), this.#options.stopMs)
    await Promise.all(Array.from(this.#working.values(), ({ ended }) => ended))
    clearTimeout(timer)
  }

  /** This node has lost its lease: other nodes may do the same work, so it ends here. */
  loseAll(): void {
    this.#losses += 1
    for (const claim of this.#working.keys()) this.#lost.add(claim)
    this.#abortAll()
  }

  #abortAll(): void {
    for (const { abort } of this.#working.values()) abort.abort()
  }

  async #claimAll(): Promise<number> {
    const { claims, pollMs } = this.#options
    const now = performance.now()
    if (now - this.#takenOverMs >= pollMs) {
      await this.#loop.attempt("take over", () => claims.takeOver([...this.#working.keys()]))
      this.#takenOverMs = now
    }
    while (await this.#claim());
    const dueMs = await claims.nextDueMs()
    // Never 0: the next due row may belong to an owner at its limit, and the loop would spin.
    return Math.max(dueMs ?? pollMs, pollMs / 10)
  }

  /** Claims as much as can be done now. Returns whether there may be more. */
  async #claim(): Promise<boolean> {
    const free = this.#options.concurrencyMax - this.#working.size
    if (free <= 0 || this.#loop.isStopped) return false
    const losses = this.#losses
    const claimed = await this.#options.claims.claim(free, [...this.#working.keys()])
    // Other nodes may have these claims by now. If not, `takeOver` lets the rows wait again.
    if (losses !== this.#losses) return false
    for (const claim of claimed) this.#start(claim)
    return claimed.length > 0
  }

  #start(claim: OneClaim): void {
    const abort = new AbortController()
    const ended = this.#work(claim, abort.signal).finally(() => {
      this.#working.delete(claim)
      this.wake()
    })
    this.#working.set(claim, { abort, ended })
  }

  /** Never rejects. */
  async #work(claim: OneClaim, signal: AbortSignal): Promise<void> {
    const { claims, work, onError } = this.#options
    try {
      await work(claim, signal)
    } catch (error) {
      if (this.#lost.has(claim)) return
      if (!signal.aborted) onError(error, "attempt")
      const released = signal.aborted
        ? claims.giveBack(claim)
        : claims.fail(claim, toRetryDelay(workBackoff, claim.attempts))
      // If this fails too, `takeOver` lets it wait again.
      await released.catch((cause: unknown) => onError(cause, "give back"))
    }
  }
}
