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

/**
 * OTLP in Protocol Buffers: the messages of opentelemetry/proto/trace/v1. The numbers of the fields
 * are those of the specification and never change.
 */
export function createProtobufEncoding({ attributes, version }: SpanSource): SpanEncoding {
  const writer = new MessageWriter()
  const resource = writer.take(() => writeAttributes(writer, 1, attributes))
  const scope = writer.take(() => {
    writer.text(1, scopeName)
    writer.text(2, version)
  })
  return {
    contentType: "application/x-protobuf",
    encode: (span, epochMs) => writer.take(() => writeSpan(writer, span, epochMs)),
    toBody(spans) {
      const parts: Uint8Array[] = [toHead(1, scope.length), scope]
      for (const span of spans) parts.push(toHead(2, span.length), span)
      const ofScope = Buffer.concat(parts)
      const ofResource = [toHead(1, resource.length), resource, toHead(2, ofScope.length), ofScope]
      const length = ofResource.reduce((sum, part) => sum + part.length, 0)
      return Buffer.concat([toHead(1, length), ...ofResource])
    },
    countRejected: readRejected,
  }
}

function writeSpan(writer: MessageWriter, span: TraceSpan, epochMs: number): void {
  const { startMs, endMs = startMs, error } = span
  writer.hex(1, span.traceId)
  writer.hex(2, span.spanId)
  if (span.state !== "") writer.text(3, span.state)
  if (span.parentId !== undefined) writer.hex(4, span.parentId)
  writer.text(5, span.name.slice(0, spanLimits.nameCharsMax))
  writer.number(6, kindNumbers[span.kind])
  writer.fixed64(7, toUnixNanos(epochMs + startMs))
  writer.fixed64(8, toUnixNanos(epochMs + endMs))
  writeAttributes(writer, 9, span.attributes)
  if (error === undefined) return
  const status = writer.open(15)
  writer.text(2, error.slice(0, spanLimits.valueCharsMax))
  writer.number(3, errorStatus)
  writer.close(status)
}

function writeAttributes(writer: MessageWriter, field: number, attributes: Attributes): void {
  eachAttribute(attributes, (key, value) => {
    const pair = writer.open(field)
    writer.text(1, key)
    const any = writer.open(2)
    if (typeof value === "string") writer.text(1, value)
    else if (Number.isSafeInteger(value) && value >= 0) writer.number(3, value)
    else writer.double(4, value)
    writer.close(any)
    writer.close(pair)
  })
}

/** The wire types of the format. */
const wire = { varint: 0, fixed64: 1, bytes: 2 }

/** Bytes of a length, of which the unused ones are padding: a length is known after its content. */
const lengthBytes = 3

/** The largest span: its texts, with three bytes for a character, and the heads of its fields. */
const messageBytesMax = 65_536

/** Texts of this length are written character by character. */
const shortCharsMax = 100

/** Writes one message at a time into memory that is used again. */
class MessageWriter {
  readonly #bytes = Buffer.alloc(messageBytesMax)
  #at = 0

  take(write: () => void): Uint8Array {
    this.#at = 0
    write()
    return Uint8Array.prototype.slice.call(this.#bytes, 0, this.#at)
  }

  number(field: number, value: number): void {
    this.#tag(field, wire.varint)
    this.#varint(value)
  }

  fixed64(field: number, value: bigint): void {
    this.#tag(field, wire.fixed64)
    this.#at = this.#bytes.writeBigUInt64LE(value, this.#at)
  }

  double(field: number, value: number): void {
    this.#tag(field, wire.fixed64)
    this.#at = this.#bytes.writeDoubleLE(value, this.#at)
  }

  text(field: number, value: string): void {
    const start = this.open(field)
    // A call of `write` takes longer than a short text that is ASCII, as nearly all are.
    let index = value.length > shortCharsMax ? 0 : this.#writeAscii(value, start)
    if (index < value.length) index = this.#bytes.write(value, start, "utf8")
    this.#at = start + index
    this.close(start)
  }

  hex(field: number, value: string): void {
    const start = this.open(field)
    for (let index = 0; index < value.length; index += 2)
      this.#bytes[this.#at++] =
        (toDigit(value.charCodeAt(index)) << 4) | toDigit(value.charCodeAt(index + 1))
    this.close(start)
  }

  /** Returns how many characters it has written: up to the first that is not ASCII. */
  #writeAscii(value: string, start: number): number {
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index)
      if (code > 127) return index
      this.#bytes[start + index] = code
    }
    return value.length
  }

  /** Begins a field that has a length. Returns where its content starts. */
  open(field: number): number {
    this.#tag(field, wire.bytes)
    this.#at += lengthBytes
    return this.#at
  }

  close(start: number): void {
    const length = this.#at - start
    this.#bytes[start - 3] = (length & 127) | 128
    this.#bytes[start - 2] = ((length >> 7) & 127) | 128
    this.#bytes[start - 1] = (length >> 14) & 127
  }

  /** No field has a number beyond 15, which takes one byte. */
  #tag(field: number, type: number): void {
    this.#bytes[this.#at++] = (field << 3) | type
  }

  #varint(value: number): void {
    let rest = value
    while (rest > 127) {
      this.#bytes[this.#at++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    this.#bytes[this.#at++] = rest
  }
}

/** Of the code of a hexadecimal digit, in lower case. */
function toDigit(code: number): number {
  return code < 97 ? code - 48 : code - 87
}

/** The head of a field with a length that is known. */
function toHead(field: number, length: number): Uint8Array {
  const bytes = [(field << 3) | wire.bytes]
  let rest = length
  while (rest > 127) {
    bytes.push((rest & 127) | 128)
    rest >>>= 7
  }
  bytes.push(rest)
  return Uint8Array.from(bytes)
}

/** Reads `partial_success.rejected_spans`: field 1 of the message in field 1. Others are rare. */
function readRejected(response: Uint8Array): number {
  if (response[0] !== toTagByte(1, wire.bytes) || response[2] !== toTagByte(1, wire.varint))
    return 0
  let count = 0
  for (let index = 3; index < Math.min(response.length, 3 + 7); index++) {
    const byte = response[index] ?? 0
    count += (byte & 127) * 128 ** (index - 3)
    if (byte < 128) return count
  }
  return 0
}

function toTagByte(field: number, type: number): number {
  return (field << 3) | type
}
