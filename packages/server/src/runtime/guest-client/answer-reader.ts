import { type AnswerHead, answerStart, parseAnswerHead } from "./answer-head.ts"
import { ChunkDecoder } from "./chunk-decoder.ts"
import type { ClientLimits } from "./client-limits.ts"

/** Hears what was read: a head, parts of its body unless that came with it, and an end; or, at any point, that it is broken. */
export interface AnswerSink {
  /** The body is null where there is none, and undefined where it is still to come. */
  onHead(head: AnswerHead, body: Uint8Array | null | undefined): void
  onPart(bytes: Uint8Array): void
  /** `isClean` when nothing else has come and another answer may follow. */
  onEnd(isClean: boolean): void
  /** `isClosed` when it is so because the connection was closed. */
  onBroken(reason: string, isClosed: boolean): void
}

type Expected = "head" | "length" | "chunks" | "close" | "nothing"

const headEnd = Buffer.from("\r\n\r\n")
const nothing = Buffer.alloc(0)

/** Reads the answers on one connection from the bytes that come, wherever they are cut. Believes nothing. */
export class AnswerReader {
  readonly #limits: ClientLimits
  readonly #sink: AnswerSink
  #expected: Expected = "nothing"
  #isBodiless = false
  #isKept = false
  #interim = 0
  /** Bytes of the body that are still to come. */
  #left = 0
  #chunks: ChunkDecoder | undefined
  /** The beginning of a head that came in several reads. */
  #saved: Buffer = nothing
  #savedBytes = 0

  constructor(limits: ClientLimits, sink: AnswerSink) {
    this.#limits = limits
    this.#sink = sink
  }

  /** An answer to a request with that method is expected. */
  begin(method: string): void {
    this.#expected = "head"
    this.#isBodiless = method === "HEAD"
    this.#interim = 0
  }

  push(bytes: Buffer): void {
    let rest: Buffer | undefined = bytes
    while (rest !== undefined && rest.length > 0 && this.#expected === "head") rest = this.#readHead(rest)
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
    this.#saved = nothing
    this.#savedBytes = 0
  }

  /** What follows the head; undefined when there is more of it to come, or all is over. */
  #readHead(bytes: Buffer): Buffer | undefined {
    const { headBytesMax, interimMax } = this.#limits
    const from = this.#savedBytes
    const all = from === 0 ? bytes : this.#save(bytes)
    if (!isStart(all)) return this.#break("it is no answer of HTTP/1.1")
    const end = all.indexOf(headEnd, Math.max(0, from - 3))
    if (end > headBytesMax || (end < 0 && all.length > headBytesMax)) return this.#break(`its head has more than ${headBytesMax} bytes`)
    if (end < 0) {
      if (from === 0) this.#save(bytes)
      return undefined
    }
    this.#saved = nothing
    this.#savedBytes = 0
    const head = parseAnswerHead(all.toString("latin1", 0, end))
    if (typeof head === "string") return this.#break(head)
    const after = end + headEnd.length
    if (head.status >= 200) return this.#takeHead(head, all, after)
    if (head.status < 100 || head.status === 101) return this.#break(`its status is ${head.status}`)
    if (++this.#interim > interimMax) return this.#break(`more than ${interimMax} others come before it`)
    return all.subarray(after)
  }

  #takeHead(head: AnswerHead, all: Buffer, after: number): Buffer | undefined {
    const { status, framing } = head
    this.#isKept = head.isKept
    if (this.#isBodiless || status === 204 || status === 304 || framing === 0) return this.#takeWhole(head, null, after === all.length)
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

  #takeWhole(head: AnswerHead, body: Uint8Array | null, isAll: boolean): undefined {
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

  /** Grows by doubling: a head that comes byte by byte must not be copied for each of them. */
  #save(bytes: Buffer): Buffer {
    const needed = this.#savedBytes + bytes.length
    if (needed > this.#saved.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#saved.length, 1024))
      this.#saved.copy(grown, 0, 0, this.#savedBytes)
      this.#saved = grown
    }
    bytes.copy(this.#saved, this.#savedBytes)
    this.#savedBytes = needed
    return this.#saved.subarray(0, needed)
  }
}

function isStart(bytes: Buffer): boolean {
  const count = Math.min(bytes.length, answerStart.length)
  for (let at = 0; at < count; at++) if (bytes[at] !== answerStart[at]) return false
  return true
}
