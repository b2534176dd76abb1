import { isCredentialHeader } from "@hamlet/contract/credential-headers"
import type { HeaderList } from "@hamlet/http1"
import { type Mask, TokenBucket, TokenBuckets } from "@hamlet/kit"
import type { RunMessage } from "../runs.ts"

/** How much of the responses of vals is kept. */
export interface KeptResponseLimits {
  /** Bytes that are kept of one body; 0 keeps no responses. */
  readonly bodyBytesMax: number
  readonly headerBytesMax: number
  /**
   * Bytes that are kept of the bodies of all responses of this node, each second, after a burst of
   * as much again. Beyond that only the headers are kept, so that a busy val does not fill the
   * disk.
   */
  readonly bytesPerSecondMax: number
  /**
   * Responses that are kept of one val on this node: users do not read more, and keeping all would
   * cost a busy val a tenth of its speed. Errors of the server are counted apart, so that a failure
   * among thousands of successes is kept.
   */
  readonly responsesPerSecondMax: number
}

/** The limits besides the size of a body, which is a setting. */
export const responseLimits: Omit<KeptResponseLimits, "bodyBytesMax"> = {
  headerBytesMax: 8_192,
  bytesPerSecondMax: 4 * 1024 * 1024,
  responsesPerSecondMax: 50,
}

/** A response whose body has ended, or was ended. */
export interface EndedResponse {
  readonly valId: string
  readonly status: number
  readonly headers: HeaderList
  /** The whole body, or a sample of its start. Null if there was none. */
  readonly body: Uint8Array | BodySample | null
}

/** The mark in place of a credential. */
const removed = "[removed]"
/** A sample has this much more than is kept, so that a secret across the cut is masked too. */
const slackBytes = 1_024
const textType =
  /^\s*(?:text\/|application\/(?:[\w.+-]*\b)?(?:json|xml|javascript|ecmascript|x-ndjson|x-www-form-urlencoded|graphql|yaml|toml)\b|image\/svg\+xml)/i
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Keeps the start of a body while it passes. */
export class BodySample {
  readonly #bytesMax: number
  readonly #chunks: Uint8Array[] = []
  #kept = 0
  /** The size of the body so far. */
  bytes = 0
  /** Whether the body has ended, so that its size is known. */
  isComplete = false

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length
    const room = this.#bytesMax - this.#kept
    if (room <= 0) return
    // A copy: the chunk is sent to the client, and its memory may be used again.
    const part = chunk.slice(0, room)
    this.#chunks.push(part)
    this.#kept += part.length
  }

  toBytes(): Uint8Array {
    return this.#chunks.length === 1 ? (this.#chunks[0] as Uint8Array) : Buffer.concat(this.#chunks)
  }
}

/** Decides what a run keeps of the response of its val. */
export class ResponseKeeper {
  readonly #limits: KeptResponseLimits
  readonly #budget: TokenBucket
  readonly #perVal: TokenBuckets
  readonly #now: () => number

  constructor(limits: KeptResponseLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
    this.#budget = new TokenBucket(limits.bytesPerSecondMax, 1_000, now())
    this.#perVal = new TokenBuckets(1_000, now, TokenBucket)
  }

  /** A sample for a body that is streamed; undefined if nothing of it would be kept. */
  createSample(headers: HeaderList): BodySample | undefined {
    const { bodyBytesMax } = this.#limits
    if (bodyBytesMax === 0) return undefined
    return new BodySample(isText(headers) ? bodyBytesMax + slackBytes : 0)
  }

  /** What the run keeps. Null if responses are not kept, or the val has too many. */
  keep({ valId, status, headers, body }: EndedResponse, mask: Mask): RunMessage | null {
    const { bodyBytesMax, headerBytesMax, responsesPerSecondMax } = this.#limits
    if (bodyBytesMax === 0) return null
    const key = status >= 500 ? `${valId} failed` : valId
    if (this.#perVal.take(key, responsesPerSecondMax) > 0) return null
    const kept = keepHeaders(headers, headerBytesMax, mask)
    if (body === null)
      return { headers: kept, body: null, bytes: 0, isBinary: false, isTruncated: false }
    const isSample = body instanceof BodySample
    const total = isSample ? body.bytes : body.length
    const isKnown = !isSample || body.isComplete
    const bytes = isKnown ? total : null
    if (total === 0) return { headers: kept, body: "", bytes, isBinary: false, isTruncated: false }
    if (!isText(headers))
      return { headers: kept, body: null, bytes, isBinary: true, isTruncated: false }
    if (!this.#take(Math.min(total, bodyBytesMax)))
      return { headers: kept, body: null, bytes, isBinary: false, isTruncated: true }
    const start = isSample ? body.toBytes() : body.subarray(0, bodyBytesMax + slackBytes)
    const text = toText(start, bodyBytesMax, mask)
    return {
      headers: kept,
      body: text ?? null,
      bytes,
      isBinary: text === undefined,
      isTruncated: text !== undefined && (total > bodyBytesMax || !isKnown),
    }
  }

  #take(bytes: number): boolean {
    return this.#budget.take(bytes, this.#now())
  }
}

/** The headers without the values of credentials, as many as fit. */
export function keepHeaders(headers: HeaderList, bytesMax: number, mask: Mask): [string, string][] {
  const kept: [string, string][] = []
  let bytes = 0
  for (const [name, value] of headers) {
    bytes += name.length + value.length
    if (bytes > bytesMax) break
    kept.push([name, isCredentialHeader(name) ? removed : mask.hide(value)])
  }
  return kept
}

/** The start of the text, up to that size; undefined if the bytes are not UTF-8. */
export function toText(bytes: Uint8Array, bytesMax: number, mask: Mask): string | undefined {
  const end = toBoundary(bytes, bytes.length)
  const start = toBoundary(bytes, Math.min(bytesMax, bytes.length))
  try {
    const text = decoder.decode(bytes.subarray(0, end))
    // A secret may begin before the cut and end behind it.
    return start === end
      ? mask.hide(text)
      : mask.hide(text, decoder.decode(bytes.subarray(0, start)).length)
  } catch {
    return undefined
  }
}

/** The end of the last whole character within the first `end` bytes, if they are cut there. */
function toBoundary(bytes: Uint8Array, end: number): number {
  let at = end
  // A character has at most three bytes behind its first.
  for (let back = 0; back < 3 && at > 0 && ((bytes[at - 1] ?? 0) & 0xc0) === 0x80; back++) at -= 1
  if (at === 0) return end
  const first = bytes[at - 1] ?? 0
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
  return end - (at - 1) < length ? at - 1 : end
}

function isText(headers: HeaderList): boolean {
  let type: string | undefined
  for (const [name, value] of headers) {
    if (name === "content-encoding" && value.trim().toLowerCase() !== "identity") return false
    if (name === "content-type") type = value
  }
  return type === undefined || textType.test(type)
}
