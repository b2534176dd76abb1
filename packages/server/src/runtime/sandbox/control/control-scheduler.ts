/** Whether all is heard, there is more to hear, or there is more that must not be heard yet. */
export type ReadState = "done" | "more" | "limited"

/** What is heard in turns. */
export interface ControlReader {
  /** Hears at most so many messages. */
  readMore(messagesMax: number): ReadState
}

/**
 * In each window guests are heard for so long, all of them together. The rest of the thread's time
 * is for requests.
 */
const windowMs = 5
const workMsMax = 1
/** Messages that are heard without a look at the clock; each takes about 2 µs. */
const messagesPerTurn = 128

/**
 * Shares the time in which the server listens to guests among all of them. A guest that says little
 * is heard at once; those that say more than fits into the window wait for their turn, one after
 * the other, and take a fifth of the thread's time at most, however many they are.
 */
export class ControlScheduler {
  /** In the order in which they have their turns. */
  readonly #waiting = new Set<ControlReader>()
  #timer: Timer | undefined
  readonly #now: () => number
  #windowAtMs = Number.NEGATIVE_INFINITY
  #workedMs = 0

  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /** Hears at once, if there is time in this window. */
  read(listen: (messagesMax: number) => void): void {
    const startedMs = this.#now()
    this.#openWindow(startedMs)
    listen(this.#workedMs < workMsMax ? messagesPerTurn : 0)
    this.#workedMs += this.#now() - startedMs
  }

  /** There is more to hear. */
  add(heard: ControlReader): void {
    this.#waiting.add(heard)
    this.#timer ??= setTimeout(() => this.#work(), windowMs)
  }

  delete(heard: ControlReader): void {
    this.#waiting.delete(heard)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#waiting.clear()
  }

  /** Goes round until there is nothing more to hear for now, or the time is over. */
  #work(): void {
    this.#timer = undefined
    const startedMs = this.#now()
    this.#openWindow(startedMs)
    const limited: ControlReader[] = []
    // What is added while the loop runs comes at its end.
    for (const heard of this.#waiting) {
      if (this.#now() - startedMs >= workMsMax) break
      this.#waiting.delete(heard)
      const state = heard.readMore(messagesPerTurn)
      if (state === "more") this.#waiting.add(heard)
      else if (state === "limited") limited.push(heard)
    }
    for (const heard of limited) this.#waiting.add(heard)
    this.#workedMs += this.#now() - startedMs
    if (this.#waiting.size > 0) this.#timer ??= setTimeout(() => this.#work(), windowMs)
  }

  #openWindow(nowMs: number): void {
    if (nowMs - this.#windowAtMs < windowMs) return
    this.#windowAtMs = nowMs
    this.#workedMs = 0
  }
}
