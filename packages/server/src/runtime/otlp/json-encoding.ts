import { parseJson, toOwnJson } from "../../shared/hostile-input/bounded.ts"
import type { Attributes, TraceSpan } from "../../shared/tracing/tracer.ts"
import {
  eachAttribute,
  errorStatus,
  kindNumbers,
  type SpanEncoding,
  type SpanSource,
  scopeName,
  spanLimits,
  toUnixNanos,
} from "./span-encoding.ts"

const comma = Buffer.from(",")
const responseCharsMax = 4_096

/** OTLP in JSON, which people can read. */
export function createJsonEncoding({ attributes, version }: SpanSource): SpanEncoding {
  const resource = { attributes: toKeyValues(attributes) }
  const scope = { name: scopeName, version }
  const head = Buffer.from(
    `{"resourceSpans":[{"resource":${toOwnJson(resource)},"scopeSpans":[{"scope":${toOwnJson(scope)},"spans":[`,
  )
  const tail = Buffer.from("]}]}]}")
  return {
    contentType: "application/json",
    encode: (span, epochMs) => Buffer.from(toOwnJson(toJsonSpan(span, epochMs))),
    toBody(spans) {
      const parts: Uint8Array[] = [head]
      for (const [index, span] of spans.entries()) {
        if (index > 0) parts.push(comma)
        parts.push(span)
      }
      parts.push(tail)
      return Buffer.concat(parts)
    },
    countRejected(response) {
      try {
        const parsed = parseJson(new TextDecoder().decode(response), responseCharsMax)
        const count = Number(parsed?.partialSuccess?.rejectedSpans ?? 0)
        return Number.isSafeInteger(count) ? Math.max(0, count) : 0
      } catch {
        return 0
      }
    },
  }
}

function toJsonSpan(span: TraceSpan, epochMs: number): object {
  const { startMs, endMs = startMs, error } = span
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    traceState: span.state || undefined,
    parentSpanId: span.parentId,
    name: span.name.slice(0, spanLimits.nameCharsMax),
    kind: kindNumbers[span.kind],
    startTimeUnixNano: String(toUnixNanos(epochMs + startMs)),
    endTimeUnixNano: String(toUnixNanos(epochMs + endMs)),
    attributes: toKeyValues(span.attributes),
    status:
      error === undefined
        ? undefined
        : { code: errorStatus, message: error.slice(0, spanLimits.valueCharsMax) },
  }
}

function toKeyValues(attributes: Attributes): readonly object[] {
  const pairs: object[] = []
  eachAttribute(attributes, (key, value) => pairs.push({ key, value: toAnyValue(value) }))
  return pairs
}

function toAnyValue(value: string | number): object {
  if (typeof value === "string") return { stringValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
