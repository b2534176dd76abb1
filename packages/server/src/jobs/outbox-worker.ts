import type { OutboxClaim, OutboxQueue } from "../domain/outbox.ts"

export interface OutboxWorkerOptions {
  readonly outbox: OutboxQueue
  /**
   * Sends a message and records the outcome. If it throws, the message is due again when its lease
   * ends, or at once when the server stops, which aborts the signal. The signal is also aborted when
   * the lease was lost.
   */
  send(claim: OutboxClaim, signal: AbortSignal): Promise<void>
  /** Messages that are sent at the same time. */
  readonly concurrencyMax: number
  /** How often the lease of a message is renewed while it is being sent. */
  readonly renewMs: number
  /** How often to look for messages whose notice was lost, or that other nodes have not sent. */
  readonly pollMs: number
  /** How long messages may take to finish when the server stops. Then they are aborted. */
  readonly stopMs: number
  onError(error: unknown): void
}

/** Pause after the database failed. */
const failedMs = 5_000

/** Sends the messages of an outbox that are due, with limited concurrency. */
export class OutboxWorker {
  readonly #options: OutboxWorkerOptions
  readonly #abort = new AbortController()
  readonly #sending = new Set<Promise<void>>()
  readonly #inFlight = new Map<string, number>()
  #round: Promise<void> | undefined
  #timer: Timer | undefined
  #unlisten: (() => void) | undefined
  #isAgain = false
  #isStopped = false
  #isFailing = false

  constructor(options: OutboxWorkerOptions) {
    this.#options = options
  }

  start(): void {
    this.#unlisten ??= this.#options.outbox.listen(() => this.wake())
    this.wake()
  }

  /** Looks for messages now. */
  wake(): void {
    if (this.#isStopped) return
    this.#isAgain = true
    if (this.#round !== undefined) return
    clearTimeout(this.#timer)
    this.#round = this.#run().finally(() => {
      this.#round = undefined
      if (this.#isAgain) this.wake()
    })
  }

  /** Starts no more messages, and waits a moment for those that are being sent. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#unlisten?.()
    clearTimeout(this.#timer)
    await this.#round
    const timer = setTimeout(() => this.#abort.abort(), this.#options.stopMs)
    await Promise.all(this.#sending)
    clearTimeout(timer)
  }

  async #run(): Promise<void> {
    let waitMs = this.#options.pollMs
    try {
      while (this.#isAgain && !this.#isStopped) {
        this.#isAgain = false
        await this.#claim()
      }
      const dueMs = await this.#options.outbox.nextDueMs()
      // At least a moment: a message that is due may belong to an owner who has their share.
      waitMs = Math.min(waitMs, Math.max(dueMs ?? waitMs, waitMs / 10))
      this.#isFailing = false
    } catch (error) {
      // Reported once, not with every attempt.
      if (!this.#isFailing) this.#options.onError(error)
      this.#isFailing = true
      this.#isAgain = false
      waitMs = failedMs
    }
    if (!this.#isStopped) this.#timer = setTimeout(() => this.wake(), waitMs)
  }

  /** Claims as many messages as can be sent now. */
  async #claim(): Promise<void> {
    const free = this.#options.concurrencyMax - this.#sending.size
    if (free <= 0) return
    const claims = await this.#options.outbox.claim(free, this.#inFlight)
    for (const claim of claims) this.#start(claim)
    if (claims.length > 0) this.#isAgain = true
  }

  #start(claim: OutboxClaim): void {
    const { ownerId } = claim
    this.#inFlight.set(ownerId, (this.#inFlight.get(ownerId) ?? 0) + 1)
    const sent = this.#send(claim).finally(() => {
      this.#sending.delete(sent)
      const left = (this.#inFlight.get(ownerId) ?? 1) - 1
      if (left > 0) this.#inFlight.set(ownerId, left)
      else this.#inFlight.delete(ownerId)
      this.wake()
    })
    this.#sending.add(sent)
  }

  /** Never rejects. */
  async #send(claim: OutboxClaim): Promise<void> {
    const { outbox, send, renewMs, onError } = this.#options
    const lost = new AbortController()
    const renew = async () => {
      if (!(await outbox.renew(claim))) lost.abort()
    }
    const timer = setInterval(() => void renew().catch(onError), renewMs)
    try {
      await send(claim, AbortSignal.any([this.#abort.signal, lost.signal]))
    } catch (error) {
      if (this.#abort.signal.aborted) await outbox.giveBack(claim).catch(onError)
      else if (!lost.signal.aborted) onError(error)
    } finally {
      clearInterval(timer)
    }
  }
}
