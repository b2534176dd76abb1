import { RecentMap } from "@hamlet/kit"
import { type ReadStep, readAll } from "../connections/paced-reader.ts"
import type { Http1Limits } from "../http1-limits.ts"
import { ChunkDecoder } from "./chunk-decoder.ts"
import { HeadBuffer } from "./head-buffer.ts"
import type { HeaderList } from "./header-lines.ts"
import { endOfValue, isLineEnd, parseHeaderLines } from "./header-lines.ts"

/** The head of a response, and the framing of its body. */
export interface ResponseHead {
  readonly status: number
  readonly headers: HeaderList
  readonly framing: Framing
  /** Whether another request may follow on the same connection. */
  readonly isKept: boolean
}

/** A body ends after this many bytes, with its last chunk, or with the connection. */
export type Framing = number | "chunked" | "close"

/**
 * Receives a response: its head, the parts of its body unless that came with the head, and its end.
 * `onBroken` may come at any point instead, and is the last call.
 */
export interface ResponseSink {
  /** The body is null if there is none, and undefined if its parts follow. */
  onHead(head: ResponseHead, body: Uint8Array | null | undefined): void
  onPart(bytes: Uint8Array): void
  /** `isClean`: no other bytes have arrived, and the connection can be reused. */
  onEnd(isClean: boolean): void
  /** `isClosed`: the connection was closed before the end of the response. */
  onBroken(reason: string, isClosed: boolean): void
}

const zero = 48

type Expected = "head" | "length" | "chunks" | "close" | "nothing"

export interface ResponseOptions {
  /** Whether responses of HTTP/1.0 are accepted, too. */
  readonly acceptsHttp10?: boolean
}

/** Parses the responses on one connection, however they are split into reads. */
export class ResponseReader {
  readonly #limits: Http1Limits
  readonly #sink: ResponseSink
  readonly #acceptsHttp10: boolean
  readonly #head = new HeadBuffer()
  #expected: Expected = "nothing"
  #isBodiless = false
  #isUpgrade = false
  #isKept = false
  #interim = 0
  /** Bytes of the body that have not arrived yet. */
  #left = 0
  #chunks: ChunkDecoder | undefined

  constructor(
    limits: Http1Limits,
    sink: ResponseSink,
    { acceptsHttp10 = false }: ResponseOptions = {},
  ) {
    this.#limits = limits
    this.#sink = sink
    this.#acceptsHttp10 = acceptsHttp10
  }

  /**
   * Expects the response to a request with this method. After an upgrade, all bytes that follow
   * status 101 are the body.
   */
  begin(method: string, isUpgrade = false): void {
    this.#expected = "head"
    this.#isBodiless = method === "HEAD"
    this.#isUpgrade = isUpgrade
    this.#interim = 0
  }

  /** The rest, and what follows it, is to be pushed later. */
  push(bytes: Buffer): ReadStep {
    let rest: Buffer | undefined = bytes
    while (rest !== undefined && rest.length > 0 && this.#expected === "head")
      rest = this.#readHead(rest)
    return rest !== undefined && rest.length > 0 ? this.#readBody(rest) : readAll
  }

  /** To be called when the connection was closed, by the server or by an error. */
  close(isError: boolean): void {
    if (this.#expected === "nothing") return
    if (this.#expected === "close" && !isError) this.#end(false)
    else this.#break("the connection was closed before its end", true)
  }

  /** Drops the response that is being read. */
  stop(): void {
    this.#expected = "nothing"
    this.#chunks = undefined
    this.#head.clear()
  }

  /** Returns the bytes behind the head; undefined if it is incomplete, or the response is over. */
  #readHead(bytes: Buffer): Buffer | undefined {
    const { headBytesMax, interimMax } = this.#limits
    const { all, end, after } = this.#head.push(bytes)
    if (!this.#isStart(all)) return this.#break("it is not an HTTP/1.1 response")
    if (end > headBytesMax || (end < 0 && all.length > headBytesMax))
      return this.#break(`its head has more than ${headBytesMax} bytes`)
    if (end < 0) return undefined
    const head = parseResponseHead(all.toString("latin1", 0, end))
    if (typeof head === "string") return this.#break(head)
    if (head.status >= 200) return this.#takeHead(head, all, after)
    if (head.status === 101 && this.#isUpgrade)
      return this.#takeHead({ ...head, framing: "close", isKept: false }, all, after)
    if (head.status < 100 || head.status === 101) return this.#break(`its status is ${head.status}`)
    if (++this.#interim > interimMax)
      return this.#break(`more than ${interimMax} interim responses precede it`)
    return all.subarray(after)
  }

  #takeHead(head: ResponseHead, all: Buffer, after: number): Buffer | undefined {
    const { status, framing } = head
    this.#isKept = head.isKept
    if (this.#isBodiless || status === 204 || status === 304 || framing === 0)
      return this.#takeWhole(head, null, after === all.length)
    if (typeof framing === "number") {
      const end = after + framing
      if (end <= all.length && framing <= this.#limits.wholeBytesMax)
        return this.#takeWhole(head, all.subarray(after, end), end === all.length)
      this.#expected = "length"
      this.#left = framing
    } else {
      this.#expected = framing === "chunked" ? "chunks" : "close"
      this.#chunks = framing === "chunked" ? new ChunkDecoder(this.#limits) : undefined
    }
    this.#sink.onHead(head, undefined)
    return all.subarray(after)
  }

  #takeWhole(head: ResponseHead, body: Uint8Array | null, isAll: boolean): undefined {
    this.#expected = "nothing"
    this.#sink.onHead(head, body)
    this.#sink.onEnd(head.isKept && isAll)
    return undefined
  }

  #readBody(bytes: Buffer): ReadStep {
    if (this.#expected === "length") this.#readLength(bytes)
    else if (this.#expected === "chunks") return this.#readChunks(bytes)
    else if (this.#expected === "close") this.#sink.onPart(bytes)
    return readAll
  }

  #readLength(bytes: Buffer): void {
    const count = Math.min(this.#left, bytes.length)
    this.#left -= count
    this.#sink.onPart(count === bytes.length ? bytes : bytes.subarray(0, count))
    if (this.#left === 0) this.#end(count === bytes.length)
  }

  #readChunks(bytes: Buffer): ReadStep {
    const chunks = this.#chunks as ChunkDecoder
    const { content, read, framing } = chunks.decode(bytes, 0)
    if (content.length > 0) this.#sink.onPart(content)
    if (chunks.problem !== undefined) this.#breakOpen(chunks.problem)
    else if (chunks.isOver) this.#end(read === bytes.length)
    else if (read < bytes.length) return { rest: bytes.subarray(read), framing }
    return { rest: undefined, framing }
  }

  #end(isAll: boolean): void {
    // The sink may have called `stop` while it received the last part.
    if (this.#expected === "nothing") return
    this.stop()
    this.#sink.onEnd(isAll && this.#isKept)
  }

  /** Reports a broken body, unless the sink called `stop` while it received the last part. */
  #breakOpen(reason: string): void {
    if (this.#expected !== "nothing") this.#break(reason)
  }

  #break(reason: string, isClosed = false): undefined {
    this.stop()
    this.#sink.onBroken(reason, isClosed)
  }

  /** Detects other protocols before a whole head has arrived. */
  #isStart(bytes: Buffer): boolean {
    const count = Math.min(bytes.length, responseStart.length)
    for (let at = 0; at < count; at++)
      if (
        bytes[at] !== responseStart[at] &&
        !(at === versionAt && bytes[at] === zero && this.#acceptsHttp10)
      )
        return false
    return true
  }
}

const space = 32

const cache = { charsMax: 1_024, heads: new RecentMap<string, ResponseHead>(256) }

/**
 * Parses a head, given as Latin-1 and without the empty line at its end. Returns a string that says
 * what is wrong. Small heads are cached: those of a busy val differ in their dates only, if at all.
 */
function parseResponseHead(text: string): ResponseHead | string {
  const cached = cache.heads.get(text)
  if (cached) return cached
  const head = parseHead(text)
  if (typeof head !== "string" && text.length <= cache.charsMax) cache.heads.set(text, head)
  return head
}

function parseHead(text: string): ResponseHead | string {
  const status = parseStatus(text)
  if (status === undefined) return "its status line is invalid"
  const lineEnd = endOfValue(text, 12)
  if (!isLineEnd(text, lineEnd)) return "its status line contains a control character"
  const lines = parseHeaderLines(text, lineEnd + 2)
  if (typeof lines === "string") return lines
  const { headers, length, coding } = lines
  const isOld = text.charCodeAt(versionAt) === 48
  const isKept = lines.isKept && !isOld
  // With both, the length is ignored (RFC 9112, section 6.3), and the connection cannot be trusted
  // with another response.
  if (coding !== undefined)
    return isOld
      ? "its body is chunked, which HTTP/1.0 does not support"
      : { status, headers, framing: "chunked", isKept: isKept && length === undefined }
  return { status, headers, framing: length === undefined ? "close" : Number(length), isKept }
}

/** Every response begins with this, except for the last digit of the version. */
const responseStart = Buffer.from("HTTP/1.1 ")
const versionAt = 7

/** Three digits, followed by a space or the end of the line. */
function parseStatus(text: string): number | undefined {
  if (!text.startsWith("HTTP/1.1 ") && !text.startsWith("HTTP/1.0 ")) return undefined
  let status = 0
  for (let at = 9; at < 12; at++) {
    const digit = text.charCodeAt(at) - 48
    if (!(digit >= 0 && digit <= 9)) return undefined
    status = status * 10 + digit
  }
  return text.length === 12 || text.charCodeAt(12) === space || text.charCodeAt(12) === 13
    ? status
    : undefined
}
