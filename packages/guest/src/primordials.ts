/**
 * Built-ins as they were before any code of a val ran. A val may delete, replace or pollute all of
 * them: code that runs after it was loaded uses these, and never looks anything up on a prototype.
 * For the same reason there is no `for…of`, no spread and no array destructuring after that point:
 * they call an iterator of Array.prototype.
 */
const { bind, call } = Function.prototype

/** A method as a function whose first argument is its `this`. */
export const uncurryThis = bind.bind(call) as <This, Args extends unknown[], Result>(
  method: (this: This, ...args: Args) => Result,
) => (self: This, ...args: Args) => Result

export const reflectApply: (
  target: (...args: never[]) => unknown,
  self: unknown,
  args: ArrayLike<unknown>,
) => unknown = Reflect.apply
export const reflectConstruct: (
  target: new (...args: never[]) => unknown,
  args: ArrayLike<unknown>,
  newTarget: new (...args: never[]) => unknown,
) => unknown = Reflect.construct
export const jsonParse: (text: string) => unknown = JSON.parse
export const jsonStringify: (value: unknown) => string | undefined = JSON.stringify
export const dateNow = Date.now
export const isArray: (value: unknown) => value is unknown[] = Array.isArray
export const objectKeys: (value: object) => string[] = Object.keys
export const DateCtor = Date
export const FileCtor = File
export const PromiseCtor = Promise
export const ResponseCtor = Response
export const RequestCtor = Request
export const ReadableStreamCtor = ReadableStream
export const TypeErrorCtor = TypeError
export const ErrorCtor = Error

export const functionText = uncurryThis(Function.prototype.toString) as (target: unknown) => string
export const setAdd = uncurryThis(Set.prototype.add) as <T>(set: Set<T>, value: T) => Set<T>
export const setDelete = uncurryThis(Set.prototype.delete) as <T>(set: Set<T>, value: T) => boolean
export const setHas = uncurryThis(Set.prototype.has) as <T>(set: Set<T>, value: T) => boolean
export const setForEach = uncurryThis(Set.prototype.forEach) as <T>(
  set: Set<T>,
  visit: (value: T) => void,
) => void
export const mapForEach = uncurryThis(Map.prototype.forEach) as <K, V>(
  map: Map<K, V>,
  visit: (value: V, key: K) => void,
) => void
export const arrayPush = uncurryThis(Array.prototype.push) as <T>(array: T[], value: T) => number
export const arrayIncludes = uncurryThis(Array.prototype.includes) as (
  array: readonly unknown[],
  value: unknown,
) => boolean
export const arraySplice = uncurryThis(Array.prototype.splice) as (
  array: readonly unknown[],
  start: number,
  count: number,
) => unknown[]
export const arrayJoin = uncurryThis(Array.prototype.join) as (
  array: readonly string[],
  separator: string,
) => string

export const stringIndexOf = uncurryThis(String.prototype.indexOf)
export const stringLastIndexOf = uncurryThis(String.prototype.lastIndexOf)
export const stringSlice = uncurryThis(String.prototype.slice)
export const stringStartsWith = uncurryThis(String.prototype.startsWith)
export const stringEndsWith = uncurryThis(String.prototype.endsWith)
export const stringTrimStart = uncurryThis(String.prototype.trimStart)
export const stringCharCodeAt = uncurryThis(String.prototype.charCodeAt)
const stringSplit = uncurryThis(
  String.prototype.split as (this: string, separator: string) => string[],
)
export const splitLines = (text: string): string[] => stringSplit(text, "\n")

const regExpReplace = uncurryThis(
  RegExp.prototype[Symbol.replace] as (this: RegExp, text: string, by: string) => string,
)
const regExpExec = RegExp.prototype.exec

/** Makes `pattern` use the real `exec`, whatever happens to RegExp.prototype. */
export function hardenPattern(pattern: RegExp): RegExp {
  return Object.defineProperties(pattern, {
    exec: { value: regExpExec },
    flags: { value: pattern.flags },
    global: { value: pattern.global },
    unicode: { value: pattern.unicode },
  })
}

/** `pattern` must be hardened. */
export const replacePattern = (text: string, pattern: RegExp, by: string): string =>
  regExpReplace(pattern, text, by)
/** `pattern` must be hardened. */
export const matchPattern = (text: string, pattern: RegExp): RegExpExecArray | null =>
  pattern.exec(text)

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8")
const strictDecoder = new TextDecoder("utf-8", { fatal: true })
const TextDecoderCtor = TextDecoder
const decode = uncurryThis(TextDecoder.prototype.decode)
export const encodeText = encoder.encode.bind(encoder)
export const decodeText = decoder.decode.bind(decoder)
export const decodeStrictly = strictDecoder.decode.bind(strictDecoder)
/** Decodes the start of a text, which may end within a character. */
export const decodeBeginning = (bytes: Uint8Array): string =>
  decode(new TextDecoderCtor("utf-8", bare({ fatal: true })), bytes, bare({ stream: true }))
export const toBase64 = uncurryThis(
  (Uint8Array.prototype as unknown as { toBase64(this: Uint8Array): string }).toBase64,
)

export const bytesSubarray = uncurryThis(Uint8Array.prototype.subarray) as (
  bytes: Uint8Array,
  from: number,
  to?: number,
) => Uint8Array<ArrayBuffer>
export const bytesSet = uncurryThis(Uint8Array.prototype.set) as (
  bytes: Uint8Array,
  from: Uint8Array,
  at: number,
) => void

const readHref = uncurryThis(getterOf(URL.prototype, "href"))
/** The text of a URL; other values as they are. */
export function hrefOf(value: unknown): unknown {
  try {
    return typeof value === "object" ? readHref(value) : value
  } catch {
    return value
  }
}

export const requestText = uncurryThis(Request.prototype.text)
export const requestArrayBuffer = uncurryThis(Request.prototype.arrayBuffer)
export const isRequestBodyUsed = uncurryThis(getterOf(Request.prototype, "bodyUsed")) as (
  request: Request,
) => boolean
export const requestUrl = uncurryThis(getterOf(Request.prototype, "url")) as (
  request: Request,
) => string
export const requestHeaders = uncurryThis(getterOf(Request.prototype, "headers")) as (
  request: Request,
) => Headers
export const responseText = uncurryThis(Response.prototype.text)
export const getHeader = uncurryThis(Headers.prototype.get)
export const setHeader = uncurryThis(Headers.prototype.set)
export const responseClone = uncurryThis(Response.prototype.clone)
export const responseBody = uncurryThis(getterOf(Response.prototype, "body")) as (
  response: Response,
) => ReadableStream<unknown> | null
export const responseStatus = uncurryThis(getterOf(Response.prototype, "status")) as (
  response: Response,
) => number
export const responseStatusText = uncurryThis(getterOf(Response.prototype, "statusText")) as (
  response: Response,
) => string
export const responseHeaders = uncurryThis(getterOf(Response.prototype, "headers")) as (
  response: Response,
) => Headers
export const headersForEach = uncurryThis(Headers.prototype.forEach)
export const streamReader = uncurryThis(ReadableStream.prototype.getReader) as (
  stream: ReadableStream<unknown>,
) => ReadableStreamDefaultReader<unknown>
export const readerRead = uncurryThis(ReadableStreamDefaultReader.prototype.read)
export const readerCancel = uncurryThis(ReadableStreamDefaultReader.prototype.cancel)

/**
 * An object that inherits nothing, so that additions of a val to Object.prototype are not taken for
 * its fields.
 */
export function bare<T extends object>(fields: T): T {
  return Object.assign(Object.create(null), fields)
}

function getterOf<T extends object>(prototype: T, name: keyof T): (this: unknown) => unknown {
  const getter = Object.getOwnPropertyDescriptor(prototype, name)?.get
  if (!getter) throw new Error(`Cannot start: ${String(name)} is no getter`)
  return getter
}
