import type { Attributes, TraceSpan } from "@hamlet/kit"
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

/**
 * OTLP in Protocol Buffers: the messages of opentelemetry/proto/trace/v1. The numbers of the fields
 * are those of the specification and never change. All functions write at a place of the bytes, and
 * return where they end.
 */
export function createProtobufEncoding({ attributes, version }: SpanSource): SpanEncoding {
  const head = Buffer.alloc(spanLimits.bytesMax)
  const resourceSpans = open(head, 0, 1)
  const resource = open(head, resourceSpans, 1)
  let at = close(head, resource, writeAttributes(head, resource, 1, attributes))
  const scopeSpans = open(head, at, 2)
  const scope = open(head, scopeSpans, 1)
  at = writeText(head, scope, 1, scopeName)
  const spans = close(head, scope, writeText(head, at, 2, version))
  return {
    contentType: "application/x-protobuf",
    begin: (bytes) => head.copy(bytes, 0, 0, spans),
    write(bytes, at, span, epochMs) {
      const start = open(bytes, at, 2)
      return close(bytes, start, writeSpan(bytes, start, span, epochMs))
    },
    finish: (bytes, at) => close(bytes, resourceSpans, close(bytes, scopeSpans, at)),
    countRejected: readRejected,
  }
}

function writeSpan(bytes: Buffer, start: number, span: TraceSpan, epochMs: number): number {
  const { startMs, endMs = startMs, parentId, state, error } = span
  let at = writeText(bytes, start, 1, span.traceId, "hex")
  at = writeText(bytes, at, 2, span.spanId, "hex")
  if (state !== "") at = writeText(bytes, at, 3, state)
  if (parentId !== undefined) at = writeText(bytes, at, 4, parentId, "hex")
  at = writeText(bytes, at, 5, cut(span.name, spanLimits.nameCharsMax))
  at = writeNumber(bytes, at, 6, kindNumbers[span.kind])
  at = writeTime(bytes, at, 7, toUnixMicros(epochMs + startMs))
  at = writeTime(bytes, at, 8, toUnixMicros(epochMs + endMs))
  at = writeAttributes(bytes, at, 9, span.attributes)
  if (error === undefined) return at
  const status = open(bytes, at, 15)
  at = writeText(bytes, status, 2, cut(error, spanLimits.valueCharsMax))
  return close(bytes, status, writeNumber(bytes, at, 3, errorStatus))
}

function writeAttributes(
  bytes: Buffer,
  start: number,
  field: number,
  attributes: Attributes,
): number {
  let at = start
  eachAttribute(attributes, (key, value) => {
    const pair = open(bytes, at, field)
    const any = open(bytes, writeText(bytes, pair, 1, key), 2)
    at = close(bytes, pair, close(bytes, any, writeValue(bytes, any, value)))
  })
  return at
}

function writeValue(bytes: Buffer, at: number, value: string | number): number {
  if (typeof value === "string") return writeText(bytes, at, 1, value)
  if (Number.isSafeInteger(value) && value >= 0) return writeNumber(bytes, at, 3, value)
  bytes[at] = toTag(4, wire.fixed64)
  return bytes.writeDoubleLE(value, at + 1)
}

/** The wire types of the format. */
const wire = { varint: 0, fixed64: 1, bytes: 2 }

/** Bytes of a length, of which the unused ones are padding: a length is known after its content. */
const lengthBytes = 3

/** Begins a field that has a length. Returns where its content starts. */
function open(bytes: Buffer, at: number, field: number): number {
  bytes[at] = toTag(field, wire.bytes)
  return at + 1 + lengthBytes
}

function close(bytes: Buffer, start: number, end: number): number {
  const length = end - start
  bytes[start - 3] = (length & 127) | 128
  bytes[start - 2] = ((length >> 7) & 127) | 128
  bytes[start - 1] = (length >> 14) & 127
  return end
}

function writeText(
  bytes: Buffer,
  at: number,
  field: number,
  value: string,
  encoding: "utf8" | "hex" = "utf8",
): number {
  const start = open(bytes, at, field)
  return close(bytes, start, start + bytes.write(value, start, encoding))
}

function writeNumber(bytes: Buffer, start: number, field: number, value: number): number {
  let at = start
  bytes[at++] = toTag(field, wire.varint)
  let rest = value
  while (rest > 127) {
    bytes[at++] = (rest % 128) | 128
    rest = Math.floor(rest / 128)
  }
  bytes[at++] = rest
  return at
}

/** Nanoseconds, in two halves, because a number cannot hold them. */
function writeTime(bytes: Buffer, at: number, field: number, micros: number): number {
  bytes[at] = toTag(field, wire.fixed64)
  const high = Math.floor(micros / half)
  const low = (micros - high * half) * 1_000
  bytes.writeUInt32LE(low % half, at + 1)
  return bytes.writeUInt32LE(high * 1_000 + Math.floor(low / half), at + 5)
}

const half = 0x1_0000_0000

/** No field has a number beyond 15, which takes one byte. */
function toTag(field: number, type: number): number {
  return (field << 3) | type
}

function cut(text: string, charsMax: number): string {
  return text.length > charsMax ? text.slice(0, charsMax) : text
}

/** Reads `partial_success.rejected_spans`: field 1 of the message in field 1. Others are rare. */
function readRejected(response: Uint8Array): number {
  if (response[0] !== toTag(1, wire.bytes) || response[2] !== toTag(1, wire.varint)) return 0
  let count = 0
  for (let index = 3; index < Math.min(response.length, 3 + 7); index++) {
    const byte = response[index] ?? 0
    count += (byte & 127) * 128 ** (index - 3)
    if (byte < 128) return count
  }
  return 0
}
