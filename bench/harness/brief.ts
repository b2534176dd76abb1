/**
 * Whether each benchmark is only tried, for about a second. `npm test` does so, because a benchmark
 * that is not run stops working unnoticed.
 */
export const isBrief = process.env.HAMLET_BENCH_BRIEF === "yes"

/** The limits of a benchmark, or those with which it is only tried. */
export function chooseLimits<Limits extends object>(full: Limits, brief: Partial<Limits>): Limits {
  return isBrief ? { ...full, ...brief } : full
}
