import type { Attributes, SpanKind, TraceSpan } from "@hamlet/kit"

/**
 * Writes spans in one of the formats of OTLP, straight into the body of a request.
 */
export interface SpanEncoding {
  readonly contentType: string
  /** Begins a body. Returns where its first span is written. */
  begin(bytes: Buffer): number
  /** Returns where the next span is written. `epochMs` is the time at which `performance.now` was 0. */
  write(bytes: Buffer, at: number, span: TraceSpan, epochMs: number): number
  /** Completes a body whose last span ends at `at`. Returns its length. */
  finish(bytes: Buffer, at: number): number
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

/**
 * How much a span holds, whatever vals and their clients have sent. `bytesMax` is more than its texts
 * have in JSON, with six bytes for a character. The attributes of the source have the same limits.
 */
export const spanLimits = {
  nameCharsMax: 200,
  valueCharsMax: 1_000,
  attributesMax: 16,
  bytesMax: 131_072,
}

/** The numbers of the kinds in the format. */
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

/** Microseconds since 1970. A number cannot hold the nanoseconds of the format. */
export function toUnixMicros(ms: number): number {
  return Math.floor(ms * 1_000)
}
