import { Histogram } from "../counts/histogram.ts"

const boundsSeconds = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 10,
]

export const loopDelayLimits = {
  /**
   * The time between two samples. A longer pause is never missed, but may appear shorter by up to this
   * time. Samples wake an idle server: every 20 ms, they were a third of its CPU time.
   */
  sampleMs: 100,
}

/** The delays of the event loop since the start. */
export interface LoopDelayReport {
  /** How late a timer fired: everything that arrived meanwhile had to wait that long. */
  readonly delay: Histogram
  /** The part of the delay in which this thread used a CPU, rather than waiting for one. */
  readonly work: Histogram
}

/**
 * Measures how long the event loop is blocked. Each sample is one delay; two pauses between two
 * samples count as one.
 */
export class LoopDelay {
  readonly #delay = new Histogram(boundsSeconds)
  readonly #work = new Histogram(boundsSeconds)
  readonly #timer: Timer
  #sampledMs = performance.now()
  #cpuMs = readThreadCpuMs()

  constructor() {
    this.#timer = setInterval(() => this.#sample(), loopDelayLimits.sampleMs)
    this.#timer.unref()
  }

  report(): LoopDelayReport {
    return { delay: this.#delay, work: this.#work }
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #sample(): void {
    const [nowMs, cpuMs] = [performance.now(), readThreadCpuMs()]
    const delayMs = Math.max(0, nowMs - this.#sampledMs - loopDelayLimits.sampleMs)
    this.#delay.add(delayMs)
    this.#work.add(Math.min(delayMs, cpuMs - this.#cpuMs))
    this.#sampledMs = nowMs
    this.#cpuMs = cpuMs
  }
}

/** The CPU time that this thread has used. */
function readThreadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
