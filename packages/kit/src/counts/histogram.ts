/** Bounds that suit requests and runs, in seconds. */
const durationBoundsSeconds: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]

/** A histogram of durations. */
export class Histogram {
  readonly boundsSeconds: readonly number[]
  /**
   * For each bound, how many durations are at most that bound and above the one before. Durations
   * above the last bound are only in `count`.
   */
  readonly counts: number[]
  count = 0
  sumSeconds = 0
  maxSeconds = 0

  constructor(boundsSeconds: readonly number[] = durationBoundsSeconds) {
    this.boundsSeconds = boundsSeconds
    this.counts = boundsSeconds.map(() => 0)
  }

  add(ms: number): void {
    const index = this.boundsSeconds.findIndex((bound) => ms <= bound * 1000)
    if (index >= 0) this.counts[index] = (this.counts[index] ?? 0) + 1
    this.count += 1
    this.sumSeconds += ms / 1000
    this.maxSeconds = Math.max(this.maxSeconds, ms / 1000)
  }
}
