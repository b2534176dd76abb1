import type { Sampler } from "./tracer.ts"

/** The samplers of the specification, by the names that `OTEL_TRACES_SAMPLER` has for them. */
export type SamplerName = `${"" | "parentbased_"}${"always_on" | "always_off" | "traceidratio"}`

/** Creates a sampler. `ratio` is the share of traces that `traceidratio` records. */
export function createSampler(name: SamplerName, ratio: number): Sampler {
  const sampleRoot = createRootSampler(name, ratio)
  return name.startsWith("parentbased_")
    ? (traceId, parent) => (parent ? parent.isSampled : sampleRoot(traceId))
    : sampleRoot
}

function createRootSampler(name: SamplerName, ratio: number): (traceId: string) => boolean {
  if (name.endsWith("always_on")) return () => true
  if (name.endsWith("always_off")) return () => false
  // All programs of a trace decide the same, because they look at its id only. Its last digits are
  // random, those of a UUID too.
  const bound = Math.round(ratio * 0x1_0000_0000)
  return (traceId) => Number.parseInt(traceId.slice(24), 16) < bound
}
