import type { Histogram } from "../../shared/histogram.ts"

/** A metric in the text format of Prometheus. */
export function printMetric(
  name: string,
  type: string,
  help: string,
  lines: readonly (readonly [labels: string, value: number])[],
): readonly string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...lines.map(([labels, value]) => `${name}${labels} ${value}`),
  ]
}

/** Prometheus buckets are cumulative. */
export function toBuckets(
  labels: string,
  { boundsSeconds, counts, sumSeconds, count }: Histogram,
): readonly (readonly [string, number])[] {
  let below = 0
  const comma = labels === "" ? "" : ","
  const buckets = boundsSeconds.map((bound, index) => {
    below += counts[index] ?? 0
    return [`_bucket{${labels}${comma}le="${bound}"}`, below] as const
  })
  const own = labels === "" ? "" : `{${labels}}`
  return [
    ...buckets,
    [`_bucket{${labels}${comma}le="+Inf"}`, count],
    [`_sum${own}`, sumSeconds],
    [`_count${own}`, count],
  ]
}
