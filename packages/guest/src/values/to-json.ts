import { quote } from "../control/outbox.ts"
import { toErrorText } from "../errors/error-text.ts"
import { limits } from "../limits.ts"
import {
  bytesSubarray,
  ErrorCtor,
  isArray,
  mapForEach,
  objectKeys,
  RequestCtor,
  ResponseCtor,
  reflectApply,
  responseHeaders,
  responseStatus,
  setAdd,
  setDelete,
  setForEach,
  setHas,
  toBase64,
} from "../primordials.ts"
import { describeHeaders } from "./describe-response.ts"
import { countBytes, truncateToBytes } from "./utf8.ts"

/** A value as JSON, possibly truncated. */
export interface ValueText {
  readonly json: string
  readonly isTruncated: boolean
}

const truncationMark = "… [cut]"

/**
 * A value as JSON of at most `bytesMax` bytes. JSON that is too long becomes a JSON string with its
 * beginning.
 */
export function toReturned(value: unknown, bytesMax: number): ValueText {
  const { json, isTruncated } = toJson(value, bytesMax)
  if (!isTruncated && countBytes(json) <= bytesMax) return { json, isTruncated }
  return { json: quote(truncateToBytes(json, bytesMax) + truncationMark), isTruncated: true }
}

/**
 * Serialises any value. Never throws and always ends: a property that cannot be read becomes a text
 * with the reason, and the rest beyond `charsMax` characters is left out.
 */
export function toJson(value: unknown, charsMax: number): ValueText {
  const writer: Writer = { charsLeft: charsMax, isTruncated: false, path: new Set(), depth: 0 }
  const json = toPart(writer, value) ?? "null"
  return { json, isTruncated: writer.isTruncated }
}

interface Writer {
  charsLeft: number
  isTruncated: boolean
  /** The objects that contain the current one. */
  readonly path: Set<object>
  depth: number
}

/** Whether there is room for more; if not, the rest is left out. */
function hasRoom(writer: Writer): boolean {
  writer.isTruncated ||= writer.charsLeft <= 0
  return !writer.isTruncated
}

/** Undefined for what JSON omits: functions, symbols, undefined. */
function toPart(writer: Writer, value: unknown): string | undefined {
  if (typeof value === "object" && value !== null) return toObjectPart(writer, value, false)
  const json = toPrimitivePart(value)
  return json === undefined ? undefined : take(writer, json)
}

/** Counts what is written. */
function take(writer: Writer, json: string): string {
  writer.charsLeft -= json.length
  return json
}

function toPrimitivePart(value: unknown): string | undefined {
  if (typeof value === "string") return quote(value)
  if (typeof value === "number") return value - value === 0 ? `${value}` : "null"
  if (typeof value === "boolean" || value === null) return `${value}`
  return typeof value === "bigint" ? `"${value}"` : undefined
}

/** `isSimplified` for the result of `toJSON`, which is not called again. */
function toObjectPart(writer: Writer, value: object, isSimplified: boolean): string | undefined {
  if (setHas(writer.path, value)) return take(writer, '"[Circular]"')
  if (writer.depth >= limits.valueDepthMax) return take(writer, '"[Too deep]"')
  // The brackets. Commas and colons are not counted, so that nothing is truncated too early.
  writer.charsLeft -= 2
  writer.depth += 1
  setAdd(writer.path, value)
  try {
    const { toJSON } = isSimplified ? { toJSON: undefined } : (value as { toJSON?: unknown })
    return typeof toJSON === "function"
      ? simplify(writer, value, toJSON as () => unknown)
      : toKnownPart(writer, value)
  } catch (thrown) {
    return toThrownPart(writer, thrown)
  } finally {
    writer.depth -= 1
    setDelete(writer.path, value)
  }
}

function toThrownPart(writer: Writer, thrown: unknown): string {
  return take(writer, quote(`[Thrown: ${toErrorText(thrown).message}]`))
}

function simplify(writer: Writer, value: object, toJSON: () => unknown): string | undefined {
  const simple = reflectApply(toJSON, value, [""])
  if (simple === value) return toKnownPart(writer, value)
  return typeof simple === "object" && simple !== null
    ? toObjectPart(writer, simple, true)
    : toPart(writer, simple)
}

const {
  Map: MapCtor,
  Set: SetCtor,
  Headers: HeadersCtor,
  Uint8Array: Bytes,
  Uint8ClampedArray: ClampedBytes,
} = globalThis
const { ArrayBuffer: ArrayBufferCtor, DataView: DataViewCtor } = globalThis
const isView = ArrayBuffer.isView
const {
  Number: NumberCtor,
  String: StringCtor,
  Boolean: BooleanCtor,
  BigInt: BigIntCtor,
} = globalThis
const isError = (Error as unknown as { isError(value: unknown): boolean }).isError

function toKnownPart(writer: Writer, value: object): string | undefined {
  if (isArray(value)) return toArrayPart(writer, value)
  if (value instanceof MapCtor) return toMapPart(writer, value)
  if (value instanceof SetCtor) return toSetPart(writer, value)
  if (value instanceof ArrayBufferCtor || isView(value)) return toBytesPart(writer, value)
  if (isError(value) || value instanceof ErrorCtor) return toErrorPart(writer, value)
  if (value instanceof HeadersCtor) return toRecordPart(writer, describeHeaders(value))
  if (value instanceof ResponseCtor)
    return toRecordPart(writer, { status: responseStatus(value), headers: responseHeaders(value) })
  if (value instanceof RequestCtor)
    return toRecordPart(writer, { method: value.method, url: value.url, headers: value.headers })
  const isBoxed =
    value instanceof NumberCtor ||
    value instanceof StringCtor ||
    value instanceof BooleanCtor ||
    value instanceof BigIntCtor
  return isBoxed ? toPart(writer, value.valueOf()) : toRecordPart(writer, value)
}

function toArrayPart(writer: Writer, array: ArrayLike<unknown>): string {
  let json = ""
  for (let index = 0; index < array.length && hasRoom(writer); index += 1) {
    const part = readPart(writer, array, index) ?? take(writer, "null")
    json += index === 0 ? part : `,${part}`
  }
  return `[${json}]`
}

function toRecordPart(writer: Writer, record: object): string {
  const names = objectKeys(record)
  let json = ""
  for (let index = 0; index < names.length && hasRoom(writer); index += 1)
    json = addField(writer, json, record, names[index] as string)
  return `{${json}}`
}

function addField(writer: Writer, before: string, record: object, name: string): string {
  const part = readPart(writer, record, name)
  if (part === undefined) return before
  return `${before}${before === "" ? "" : ","}${take(writer, quote(name))}:${part}`
}

/** Reads a property; a getter that throws gives its error as text. */
function readPart(writer: Writer, record: object, name: string | number): string | undefined {
  let value: unknown
  try {
    value = (record as Record<string | number, unknown>)[name]
  } catch (thrown) {
    return toThrownPart(writer, thrown)
  }
  return toPart(writer, value)
}

/** An object if all keys are strings, else an array of pairs. */
function toMapPart(writer: Writer, map: Map<unknown, unknown>): string {
  let isRecord = true
  mapForEach(map, (_, key) => {
    isRecord &&= typeof key === "string"
  })
  let json = ""
  mapForEach(map, (value, key) => {
    if (!hasRoom(writer)) return
    const name = toPart(writer, key) ?? take(writer, "null")
    const part = toPart(writer, value) ?? take(writer, "null")
    json += `${json === "" ? "" : ","}${isRecord ? `${name}:${part}` : `[${name},${part}]`}`
  })
  return isRecord ? `{${json}}` : `[${json}]`
}

function toSetPart(writer: Writer, set: Set<unknown>): string {
  let json = ""
  setForEach(set, (value) => {
    if (hasRoom(writer))
      json += `${json === "" ? "" : ","}${toPart(writer, value) ?? take(writer, "null")}`
  })
  return `[${json}]`
}

/** Byte arrays as base64; other typed arrays as numbers. */
function toBytesPart(writer: Writer, value: ArrayBufferLike | ArrayBufferView): string {
  const isBytes =
    value instanceof Bytes || value instanceof ClampedBytes || value instanceof DataViewCtor
  if (isView(value) && !isBytes) return toArrayPart(writer, value as unknown as ArrayLike<unknown>)
  const bytes = isView(value)
    ? new Bytes(value.buffer, value.byteOffset, value.byteLength)
    : new Bytes(value)
  // Base64 is longer than the bytes, so what is left out would not have fitted.
  writer.isTruncated ||= bytes.length > writer.charsLeft
  return take(
    writer,
    `"${toBase64(writer.isTruncated ? bytesSubarray(bytes, 0, writer.charsLeft) : bytes)}"`,
  )
}

/** Name, message and stack, which JSON.stringify omits, and all other fields of the error. */
function toErrorPart(writer: Writer, error: object): string {
  const { name, message, stack } = toErrorText(error)
  let json = `"name":${quote(name)},"message":${quote(message)}`
  if (stack !== undefined) json += `,"stack":${quote(stack)}`
  take(writer, json)
  const names = objectKeys(error)
  for (let index = 0; index < names.length && hasRoom(writer); index += 1) {
    const extra = names[index] as string
    if (extra !== "name" && extra !== "message" && extra !== "stack")
      json = addField(writer, json, error, extra)
  }
  return `{${json}}`
}
