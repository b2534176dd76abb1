/** done: all is read; more: there is more; limited: there is more, but its limit is reached. */
export type ReadState = "done" | "more" | "limited"

/** A channel that the scheduler reads. */
export interface ControlReader {
  /** Processes at most that many messages. */
  readMore(messagesMax: number): ReadState
}

/** In each window, reading all guests may take this long. The rest of the time is for requests. */
const windowMs = 5
const workMsMax = 1
/** Messages that are processed between two checks of the clock; each takes about 2 µs. */
const messagesPerTurn = 128

/**
 * Shares the time for reading control messages between all guests. A guest that sends little is
 * read at once. Guests that send more than fits into a window take turns, and together take at most
 * a fifth of the thread's time.
 */
export class ControlScheduler {
  /** In the order of their turns. */
  readonly #waiting = new Set<ControlReader>()
  #timer: Timer | undefined
  readonly #now: () => number
  #windowAtMs = Number.NEGATIVE_INFINITY
  #workedMs = 0

  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /** Reads at once, if there is time left in this window. */
  read(process: (messagesMax: number) => void): void {
    const startedMs = this.#now()
    this.#openWindow(startedMs)
    process(this.#workedMs < workMsMax ? messagesPerTurn : 0)
    this.#workedMs += this.#now() - startedMs
  }

  /** Schedules a channel that has more messages. */
  add(channel: ControlReader): void {
    this.#waiting.add(channel)
    this.#timer ??= setTimeout(() => this.#work(), windowMs)
  }

  delete(channel: ControlReader): void {
    this.#waiting.delete(channel)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#waiting.clear()
  }

  /** Reads the channels in turns until nothing is left for now, or the time is over. */
  #work(): void {
    this.#timer = undefined
    const startedMs = this.#now()
    this.#openWindow(startedMs)
    const limited: ControlReader[] = []
    // A Set iterates over what is added during the loop too.
    for (const channel of this.#waiting) {
      if (this.#now() - startedMs >= workMsMax) break
      this.#waiting.delete(channel)
      const state = channel.readMore(messagesPerTurn)
      if (state === "more") this.#waiting.add(channel)
      else if (state === "limited") limited.push(channel)
    }
    for (const channel of limited) this.#waiting.add(channel)
    this.#workedMs += this.#now() - startedMs
    if (this.#waiting.size > 0) this.#timer ??= setTimeout(() => this.#work(), windowMs)
  }

  #openWindow(nowMs: number): void {
    if (nowMs - this.#windowAtMs < windowMs) return
    this.#windowAtMs = nowMs
    this.#workedMs = 0
  }
}
