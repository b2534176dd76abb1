import type { Attributes, SpanKind, TraceSpan } from "../../shared/tracing/tracer.ts"

/** Writes spans in one of the formats of OTLP. A span is written once, when it has ended. */
export interface SpanEncoding {
  readonly contentType: string
  /** `epochMs` is the time at which `performance.now` was 0. */
  encode(span: TraceSpan, epochMs: number): Uint8Array
  /** The body of a request with these spans. */
  toBody(spans: readonly Uint8Array[]): Uint8Array<ArrayBuffer>
  /** The number of spans that the collector has refused, as its response says. */
  countRejected(response: Uint8Array): number
}

/** What all spans of this process have in common. */
export interface SpanSource {
  readonly attributes: Attributes
  readonly version: string
}

/** The name of the program that makes the spans, beside that of the service. */
export const scopeName = "hamlet"

/** How much a span holds, whatever vals and their clients have sent. */
export const spanLimits = { nameCharsMax: 200, valueCharsMax: 1_000, attributesMax: 16 }

/** As the format numbers them. */
export const kindNumbers: Readonly<Record<SpanKind, number>> = {
  internal: 1,
  server: 2,
  client: 3,
  consumer: 5,
}

/** The status of work that has failed. Other work has none. */
export const errorStatus = 2

/** Calls back for the attributes that are written: those with a value, as long as a span may have. */
export function eachAttribute(
  attributes: Attributes,
  write: (key: string, value: string | number) => void,
): void {
  let count = 0
  for (const key in attributes) {
    const value = attributes[key]
    if (value === undefined || count === spanLimits.attributesMax) continue
    count += 1
    const isLong = typeof value === "string" && value.length > spanLimits.valueCharsMax
    write(key, isLong ? value.slice(0, spanLimits.valueCharsMax) : value)
  }
}

/** Nanoseconds since 1970. A number cannot hold them. */
export function toUnixNanos(ms: number): bigint {
  const whole = Math.floor(ms)
  return BigInt(whole) * 1_000_000n + BigInt(Math.floor((ms - whole) * 1_000_000))
}
