/** Upper bounds of the buckets, in seconds. */
const boundsSeconds = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 10,
]

const limits = {
  /** How often the event loop is looked at. */
  sampleMs: 20,
}

/** How often something took how long. */
export interface DelayHistogram {
  /**
   * For each bound, how often it took as long as that or less, and longer than the bound before.
   */
  readonly counts: readonly number[]
  readonly sumSeconds: number
  readonly count: number
  readonly maxSeconds: number
}

/** What the event loop was like since the start. */
export interface LoopDelayReport {
  readonly boundsSeconds: readonly number[]
  /**
   * How much later than it should a timer was: as much later everybody was answered who came in
   * between.
   */
  readonly delay: DelayHistogram
  /**
   * The part of it in which this thread was at work, and did not wait for a processor that others
   * had.
   */
  readonly work: DelayHistogram
}

/**
 * Measures how long the event loop keeps its callers waiting. One delay is counted for each time
 * that it looks; of two pauses between two looks it sees the sum.
 */
export class LoopDelay {
  readonly #delay = new Histogram()
  readonly #work = new Histogram()
  readonly #timer: Timer
  #lookedMs = performance.now()
  #workedMs = threadMs()

  constructor() {
    this.#timer = setInterval(() => this.#look(), limits.sampleMs)
    this.#timer.unref()
  }

  report(): LoopDelayReport {
    return { boundsSeconds, delay: this.#delay.report(), work: this.#work.report() }
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const [nowMs, workedMs] = [performance.now(), threadMs()]
    const delayMs = Math.max(0, nowMs - this.#lookedMs - limits.sampleMs)
    this.#delay.add(delayMs / 1000)
    this.#work.add(Math.min(delayMs, workedMs - this.#workedMs) / 1000)
    this.#lookedMs = nowMs
    this.#workedMs = workedMs
  }
}

class Histogram {
  readonly #counts = boundsSeconds.map(() => 0)
  #sum = 0
  #count = 0
  #max = 0

  add(seconds: number): void {
    const bucket = boundsSeconds.findIndex((bound) => seconds <= bound)
    if (bucket >= 0) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#sum += seconds
    this.#count += 1
    this.#max = Math.max(this.#max, seconds)
  }

  report(): DelayHistogram {
    return {
      counts: this.#counts,
      sumSeconds: this.#sum,
      count: this.#count,
      maxSeconds: this.#max,
    }
  }
}

/** The types of Bun do not know it yet. */
const { threadCpuUsage } = process as unknown as {
  threadCpuUsage(): { readonly user: number; readonly system: number }
}

/** The time that this thread has had a processor. */
function threadMs(): number {
  const { user, system } = threadCpuUsage.call(process)
  return (user + system) / 1000
}
