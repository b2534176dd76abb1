import { ChunkDecoder } from "./chunk-decoder.ts"
import { HeadBuffer } from "./head-buffer.ts"
import type { ResponseLimits } from "./http1-limits.ts"
import { parseResponseHead, type ResponseHead, responseStart, versionAt } from "./response-head.ts"

/**
 * Hears what was read: a head, parts of its body unless that came with it, and an end; or, at any
 * point, that it is broken.
 */
export interface ResponseSink {
  /** The body is null where there is none, and undefined where it is still to come. */
  onHead(head: ResponseHead, body: Uint8Array | null | undefined): void
  onPart(bytes: Uint8Array): void
  /** `isClean` when nothing else has come and another answer may follow. */
  onEnd(isClean: boolean): void
  /** `isClosed` when it is so because the connection was closed. */
  onBroken(reason: string, isClosed: boolean): void
}

const zero = 48
/** A head up to this size is remembered until another comes. */
const knownBytesMax = 2_048

type Expected = "head" | "length" | "chunks" | "close" | "nothing"

/** What is possible with some servers only. */
export interface ResponseOptions {
  /** Answers of HTTP/1.0 are read, too. */
  readonly isOldRead?: boolean
}

/**
 * Reads the answers on one connection from the bytes that come, wherever they are cut. Believes
 * nothing.
 */
export class ResponseReader {
  readonly #limits: ResponseLimits
  readonly #sink: ResponseSink
  readonly #isOldRead: boolean
  readonly #head = new HeadBuffer()
  #expected: Expected = "nothing"
  #isBodiless = false
  #isUpgrade = false
  #isKept = false
  #interim = 0
  /** Bytes of the body that are still to come. */
  #left = 0
  #chunks: ChunkDecoder | undefined
  /**
   * The last head, and what it says: on a connection that is kept, most answers differ in their
   * bodies only.
   */
  #known: { readonly bytes: Buffer; readonly head: ResponseHead } | undefined

  constructor(
    limits: ResponseLimits,
    sink: ResponseSink,
    { isOldRead = false }: ResponseOptions = {},
  ) {
    this.#limits = limits
    this.#sink = sink
    this.#isOldRead = isOldRead
  }

  /**
   * An answer to a request with that method is expected. After an upgrade, all that follows status
   * 101 is its body.
   */
  begin(method: string, isUpgrade = false): void {
    this.#expected = "head"
    this.#isBodiless = method === "HEAD"
    this.#isUpgrade = isUpgrade
    this.#interim = 0
  }

  push(bytes: Buffer): void {
    let rest: Buffer | undefined = bytes
    while (rest !== undefined && rest.length > 0 && this.#expected === "head")
      rest = this.#readHead(rest)
    if (rest !== undefined && rest.length > 0) this.#readBody(rest)
  }

  /** The connection was closed, for good or by an error. */
  close(isError: boolean): void {
    if (this.#expected === "nothing") return
    if (this.#expected === "close" && !isError) this.#end(false)
    else this.#break("the connection was closed in the middle of it", true)
  }

  /** Forgets what it was about. */
  stop(): void {
    this.#expected = "nothing"
    this.#chunks = undefined
    this.#head.clear()
  }

  /** What follows the head; undefined when there is more of it to come, or all is over. */
  #readHead(bytes: Buffer): Buffer | undefined {
    const known = this.#known
    if (known && this.#head.isEmpty && startsWith(bytes, known.bytes))
      return this.#takeHead(known.head, bytes, known.bytes.length)
    const { headBytesMax, interimMax } = this.#limits
    const { all, end, after } = this.#head.push(bytes)
    if (!this.#isStart(all)) return this.#break("it is no answer of HTTP/1.1")
    if (end > headBytesMax || (end < 0 && all.length > headBytesMax))
      return this.#break(`its head has more than ${headBytesMax} bytes`)
    if (end < 0) return undefined
    const head = parseResponseHead(all.toString("latin1", 0, end))
    if (typeof head === "string") return this.#break(head)
    if (head.status >= 200) {
      if (after <= knownBytesMax) this.#known = { bytes: Buffer.from(all.subarray(0, after)), head }
      return this.#takeHead(head, all, after)
    }
    if (head.status === 101 && this.#isUpgrade)
      return this.#takeHead({ ...head, framing: "close", isKept: false }, all, after)
    if (head.status < 100 || head.status === 101) return this.#break(`its status is ${head.status}`)
    if (++this.#interim > interimMax)
      return this.#break(`more than ${interimMax} others come before it`)
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

  #readBody(bytes: Buffer): void {
    if (this.#expected === "length") this.#readLength(bytes)
    else if (this.#expected === "chunks") this.#readChunks(bytes)
    else if (this.#expected === "close") this.#sink.onPart(bytes)
  }

  #readLength(bytes: Buffer): void {
    const count = Math.min(this.#left, bytes.length)
    this.#left -= count
    this.#sink.onPart(count === bytes.length ? bytes : bytes.subarray(0, count))
    if (this.#left === 0) this.#end(count === bytes.length)
  }

  #readChunks(bytes: Buffer): void {
    const chunks = this.#chunks as ChunkDecoder
    const decoded = chunks.decode(bytes, 0)
    if (typeof decoded === "string") return void this.#break(decoded)
    if (decoded.content.length > 0) this.#sink.onPart(decoded.content)
    if (chunks.isOver) this.#end(decoded.read === bytes.length)
  }

  #end(isAll: boolean): void {
    // Whoever hears of a part may have stopped all of it.
    if (this.#expected === "nothing") return
    this.stop()
    this.#sink.onEnd(isAll && this.#isKept)
  }

  #break(reason: string, isClosed = false): undefined {
    this.stop()
    this.#sink.onBroken(reason, isClosed)
  }

  /** Whatever begins otherwise is none, and need not be read further. */
  #isStart(bytes: Buffer): boolean {
    const count = Math.min(bytes.length, responseStart.length)
    for (let at = 0; at < count; at++)
      if (
        bytes[at] !== responseStart[at] &&
        !(at === versionAt && bytes[at] === zero && this.#isOldRead)
      )
        return false
    return true
  }
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return (
    bytes.length >= start.length && bytes.compare(start, 0, start.length, 0, start.length) === 0
  )
}
