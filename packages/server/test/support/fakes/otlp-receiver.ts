/** A span as the receiver understands it, in either format. */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  /** Empty for the root of a trace. */
  readonly parentId: string
  readonly state: string
  readonly name: string
  readonly kind: number
  readonly start: bigint
  readonly end: bigint
  readonly attributes: Readonly<Record<string, string | number>>
  /** Set for work that has failed. */
  readonly error: string | undefined
  /** The attributes of the program that has sent it. */
  readonly resource: Readonly<Record<string, string | number>>
}

/** A collector of traces. */
export interface OtlpReceiver extends Disposable {
  readonly url: string
  readonly spans: ReceivedSpan[]
  /** Requests, by the format of their body. */
  readonly requests: { readonly contentType: string; readonly headers: Headers }[]
  /** What was wrong with a request. */
  readonly problems: unknown[]
}

/** Starts a collector that reads what it gets strictly by the specification of OTLP. */
export function startOtlpReceiver(): OtlpReceiver {
  const spans: ReceivedSpan[] = []
  const requests: OtlpReceiver["requests"] = []
  const problems: unknown[] = []
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const contentType = request.headers.get("content-type") ?? ""
      requests.push({ contentType, headers: request.headers })
      const bytes = await request.bytes()
      try {
        if (new URL(request.url).pathname !== "/v1/traces") throw new Error(request.url)
        spans.push(...(contentType === "application/json" ? readJson : readProtobuf)(bytes))
        const body = contentType === "application/json" ? "{}" : ""
        return new Response(body, { headers: { "content-type": contentType } })
      } catch (error) {
        problems.push(error)
        return new Response("", { status: 400 })
      }
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans,
    requests,
    problems,
    [Symbol.dispose]: () => void server.stop(true),
  }
}

/** Fails for a name that is not in the specification. */
function only<Value extends object>(value: Value, names: readonly string[]): Value {
  for (const name of Object.keys(value))
    if (!names.includes(name)) throw new Error(`${name} is not expected`)
  return value
}

interface JsonValue {
  readonly stringValue?: string
  readonly intValue?: string
  readonly doubleValue?: number
}
type JsonPairs = readonly { readonly key: string; readonly value: JsonValue }[]
interface JsonSpan extends Record<string, unknown> {
  readonly attributes: JsonPairs
  readonly status?: { readonly code: number; readonly message: string }
}

function readJson(bytes: Uint8Array): readonly ReceivedSpan[] {
  const { resourceSpans } = only(
    JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)),
    ["resourceSpans"],
  )
  return resourceSpans.flatMap(
    (ofResource: {
      resource: { attributes: JsonPairs }
      scopeSpans: { scope: { name: string }; spans: JsonSpan[] }[]
    }) =>
      ofResource.scopeSpans.flatMap(({ spans }) =>
        spans.map((span) => toSpan(span, toRecord(ofResource.resource.attributes))),
      ),
  )
}

function toSpan(span: JsonSpan, resource: ReceivedSpan["resource"]): ReceivedSpan {
  only(span, [
    "traceId",
    "spanId",
    "parentSpanId",
    "traceState",
    "name",
    "kind",
    "attributes",
    "status",
    "startTimeUnixNano",
    "endTimeUnixNano",
  ])
  return assertValid({
    traceId: String(span.traceId),
    spanId: String(span.spanId),
    parentId: String(span.parentSpanId ?? ""),
    state: String(span.traceState ?? ""),
    name: String(span.name),
    kind: Number(span.kind),
    start: BigInt(String(span.startTimeUnixNano)),
    end: BigInt(String(span.endTimeUnixNano)),
    attributes: toRecord(span.attributes),
    error: span.status?.code === 2 ? span.status.message : undefined,
    resource,
  })
}

function toRecord(pairs: JsonPairs): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    pairs.map(({ key, value }) => {
      only(value, ["stringValue", "intValue", "doubleValue"])
      if (value.intValue !== undefined && typeof value.intValue !== "string")
        throw new Error("a whole number is a string in JSON")
      return [key, value.stringValue ?? Number(value.intValue ?? value.doubleValue)]
    }),
  )
}

function assertValid(span: ReceivedSpan): ReceivedSpan {
  const isValid =
    /^[0-9a-f]{32}$/.test(span.traceId) &&
    /^[0-9a-f]{16}$/.test(span.spanId) &&
    /^(?:[0-9a-f]{16})?$/.test(span.parentId) &&
    span.name !== "" &&
    [1, 2, 3, 4, 5].includes(span.kind) &&
    span.start > 1_500_000_000_000_000_000n &&
    span.end >= span.start
  if (!isValid) throw new Error(`not a valid span: ${Bun.inspect(span)}`)
  return span
}

/** A field of a message: its number, and its value by its wire type. */
type Field = readonly [field: number, value: Uint8Array | bigint]

function* readFields(bytes: Uint8Array): Generator<Field> {
  let at = 0
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined || shift > 63n) throw new Error("a number without an end")
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const [field, type] = [tag >> 3, tag & 7]
    if (type === 0) yield [field, varint()]
    else if (type === 1) {
      yield [field, view.getBigUint64(at, true)]
      at += 8
    } else if (type === 2) {
      const length = Number(varint())
      if (at + length > bytes.length) throw new Error("a field beyond the end of its message")
      yield [field, bytes.subarray(at, at + length)]
      at += length
    } else throw new Error(`wire type ${type} is not expected`)
  }
}

const toText = (value: Field[1]) =>
  new TextDecoder("utf-8", { fatal: true }).decode(value as Uint8Array)
const toHex = (value: Field[1]) => Buffer.from(value as Uint8Array).toString("hex")

/** The values of one field. */
function fieldsOf(bytes: Field[1], wanted: number, known: readonly number[]): readonly Field[1][] {
  return [...readFields(bytes as Uint8Array)].flatMap(([field, value]) => {
    if (!known.includes(field)) throw new Error(`field ${field} is not expected`)
    return field === wanted ? [value] : []
  })
}

/** `ExportTraceServiceRequest`. */
function readProtobuf(bytes: Uint8Array): readonly ReceivedSpan[] {
  return fieldsOf(bytes, 1, [1]).flatMap((ofResource) => {
    const [resource] = fieldsOf(ofResource, 1, [1, 2])
    const attributes = toAttributes(fieldsOf(resource ?? new Uint8Array(), 1, [1]))
    return fieldsOf(ofResource, 2, [1, 2]).flatMap((ofScope) => {
      const [scope] = fieldsOf(ofScope, 1, [1, 2])
      if (!scope || fieldsOf(scope, 1, [1, 2]).length !== 1) throw new Error("no scope")
      return fieldsOf(ofScope, 2, [1, 2]).map((span) => toProtobufSpan(span, attributes))
    })
  })
}

function toProtobufSpan(bytes: Field[1], resource: ReceivedSpan["resource"]): ReceivedSpan {
  const known = [1, 2, 3, 4, 5, 6, 7, 8, 9, 15]
  const first = (field: number) => fieldsOf(bytes, field, known)[0]
  const status = first(15)
  const isError = status !== undefined && fieldsOf(status, 3, [2, 3])[0] === 2n
  return assertValid({
    traceId: toHex(first(1) ?? new Uint8Array()),
    spanId: toHex(first(2) ?? new Uint8Array()),
    state: toText(first(3) ?? new Uint8Array()),
    parentId: toHex(first(4) ?? new Uint8Array()),
    name: toText(first(5) ?? new Uint8Array()),
    kind: Number(first(6)),
    start: first(7) as bigint,
    end: first(8) as bigint,
    attributes: toAttributes(fieldsOf(bytes, 9, known)),
    error:
      isError && status ? toText(fieldsOf(status, 2, [2, 3])[0] ?? new Uint8Array()) : undefined,
    resource,
  })
}

function toAttributes(pairs: readonly Field[1][]): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key] = fieldsOf(pair, 1, [1, 2])
      const [any] = fieldsOf(pair, 2, [1, 2])
      const [[field, value] = [0, 0n] as const] = readFields(any as Uint8Array)
      if (field === 1) return [toText(key as Uint8Array), toText(value)]
      if (field === 3) return [toText(key as Uint8Array), Number(value)]
      if (field !== 4) throw new Error(`a value of kind ${field} is not expected`)
      const double = new DataView(BigUint64Array.of(value as bigint).buffer).getFloat64(0, true)
      return [toText(key as Uint8Array), double]
    }),
  )
}
