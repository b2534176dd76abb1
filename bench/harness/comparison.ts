import type { Context } from "./benchmark.ts"
import type { Cell } from "./report.ts"
import { median, percentile, type Rounds, ratioOf } from "./stats.ts"

/**
 * A row that compares two measurements: both medians, the median of the ratios of their rounds with
 * the smallest and the largest, and the bar if there is one. `benchmark` is for the report.
 */
export function toComparison(
  { report }: Pick<Context, "report">,
  benchmark: string,
  labels: readonly string[],
  rounds: Rounds,
  toBar?: (ratio: number) => Cell,
): Cell[] {
  const { ratio, spread } = ratioOf(rounds)
  report(`${benchmark}, ${labels.join(", ")}: ${ratio.toFixed(3)} (${spread})`)
  const medians = [rounds.a, rounds.b].map((values) => median(values).toFixed(0))
  return [...labels, ...medians, ratio.toFixed(2), spread, ...(toBar ? [toBar(ratio)] : [])]
}

/** The columns of times. */
export const timeColumns = ["p50, ms", "smallest – p90, ms"]

/** Times in milliseconds: the median, and the smallest with the 90th percentile. */
export function toTimes(times: readonly number[]): readonly string[] {
  const spread = [Math.min(...times), percentile(times, 90)].map((ms) => ms.toFixed(1))
  return [median(times).toFixed(1), spread.join(" – ")]
}
