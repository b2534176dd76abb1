/** The bounds of the counts, in seconds. */
export const durationBoundsSeconds: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]

/** How often something took how long. */
export class Durations {
  /** How many took no longer than each of the bounds, and longer than the one before. */
  readonly counts: number[] = durationBoundsSeconds.map(() => 0)
  count = 0
  sumSeconds = 0

  note(ms: number): void {
    const index = durationBoundsSeconds.findIndex((bound) => ms <= bound * 1000)
    if (index >= 0) this.counts[index] = (this.counts[index] ?? 0) + 1
    this.count += 1
    this.sumSeconds += ms / 1000
  }
}
