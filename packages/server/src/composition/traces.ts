import { hostname } from "node:os"
import { createSampler, type SpanCounts, Tracer } from "@hamlet/kit"
import packageJson from "../../package.json" with { type: "json" }
import type { Config } from "../config/config.ts"

/** The traces of this process. */
export interface Traces {
  readonly tracer: Tracer
  counts(): SpanCounts
  /** Sends the last spans, for a short time. */
  stop(): Promise<void>
}

/** Undefined if the operator has no collector. The code that sends spans is loaded only if there is one. */
export async function openTraces(
  { traces }: Pick<Config, "traces">,
  nodeId: string,
  onError: (error: unknown) => void,
): Promise<Traces | undefined> {
  if (!traces) return undefined
  const { url, headers = {}, protocol, timeoutMs, sampler, ratio } = traces
  const { version } = packageJson
  const attributes = {
    "service.name": traces.serviceName ?? "hamlet",
    "service.version": version,
    "service.instance.id": nodeId,
    "host.name": hostname(),
    ...traces.resourceAttributes,
  }
  const { TraceExporter } = await import("../runtime/otlp/trace-exporter.ts")
  const { createJsonEncoding } = await import("../runtime/otlp/json-encoding.ts")
  const { createProtobufEncoding } = await import("../runtime/otlp/protobuf-encoding.ts")
  const createEncoding = protocol === "http/json" ? createJsonEncoding : createProtobufEncoding
  const encoding = createEncoding({ attributes, version })
  const exporter = new TraceExporter({ url, headers, timeoutMs }, encoding, onError)
  return {
    tracer: new Tracer(createSampler(sampler, ratio), exporter),
    counts: () => exporter.counts(),
    stop: () => exporter.stop(),
  }
}
