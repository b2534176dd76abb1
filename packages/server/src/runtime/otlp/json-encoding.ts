import { type Attributes, parseJson, type TraceSpan, toOwnJson } from "@hamlet/kit"
import {
  eachAttribute,
  errorStatus,
  kindNumbers,
  type SpanEncoding,
  type SpanSource,
  scopeName,
  spanLimits,
  toUnixMicros,
} from "./span-encoding.ts"

const responseCharsMax = 4_096

/** OTLP in JSON, which people can read. */
export function createJsonEncoding({ attributes, version }: SpanSource): SpanEncoding {
  const resource = { attributes: toKeyValues(attributes) }
  const scope = { name: scopeName, version }
  const head = Buffer.from(
    `{"resourceSpans":[{"resource":${toOwnJson(resource)},"scopeSpans":[{"scope":${toOwnJson(scope)},"spans":[`,
  )
  return {
    contentType: "application/json",
    begin: (bytes) => head.copy(bytes),
    write(bytes, at, span, epochMs) {
      const text = toOwnJson(toJsonSpan(span, epochMs))
      return at + bytes.write(at === head.length ? text : `,${text}`, at)
    },
    finish: (bytes, at) => at + bytes.write("]}]}]}", at),
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
    startTimeUnixNano: `${toUnixMicros(epochMs + startMs)}000`,
    endTimeUnixNano: `${toUnixMicros(epochMs + endMs)}000`,
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
