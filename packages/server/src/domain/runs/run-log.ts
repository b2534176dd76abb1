import { truncateText } from "@hamlet/kit"
import type { LogGap, LogLine } from "./runs.ts"

/** What a line counts besides its message, so that empty lines are limited too. */
const lineBytes = 64
const lastLineCharsMax = 200
/**
 * A guest sends the last lines of a long log at intervals, about half of the log each time. More
 * than all of it within this time is a flood, which is counted only.
 */
const floodMs = 200

/**
 * The log of a run. It keeps all lines while they fit. Of a longer log it keeps the first and the
 * last lines, about half of the room each: the beginning says what was asked, the end what went
 * wrong.
 */
export class RunLog {
  readonly #bytesMax: number
  readonly #now: () => number
  readonly #lines: LogLine[] = []
  /** The size of each line. */
  readonly #sizes: number[] = []
  /** The number of lines before the gap; undefined while there is none. */
  #headLines: number | undefined
  #omitted = 0
  /** When the bytes behind the gap were counted from, and how many there were since. */
  #countedMs = 0
  #countedBytes = 0
  bytes = 0
  /** Whether a line was shortened or left out. */
  isTruncated = false

  constructor(bytesMax: number, now: () => number) {
    this.#bytesMax = bytesMax
    this.#now = now
  }

  /** The lines that are kept, those before the gap first. */
  get lines(): readonly LogLine[] {
    return this.#lines
  }

  /** The number of lines that were logged. */
  get total(): number {
    return this.#lines.length + this.#omitted
  }

  get gap(): LogGap | null {
    if (this.#headLines === undefined || this.#omitted === 0) return null
    return { after: this.#headLines, lines: this.#omitted }
  }

  /**
   * The bytes that another line may have: all that is left, and at least half of the log; 0 if there
   * are too many.
   */
  get lineBytesMax(): number {
    if (this.#isFlooded()) return 0
    const left = this.#headLines === undefined ? this.#bytesMax - this.bytes : 0
    return Math.max(left, Math.floor(this.#bytesMax / 2)) - lineBytes
  }

  /** Continues a log that was stored. */
  restore(lines: readonly LogLine[], gap: LogGap | null, isTruncated: boolean): void {
    for (const line of lines) this.#push(line, Buffer.byteLength(line.message))
    this.isTruncated = isTruncated
    if (gap === null) return
    this.#headLines = gap.after
    this.#omitted = gap.lines
  }

  /** Adds a line, and returns it as it is kept. */
  add(line: LogLine): LogLine {
    const room = Math.max(this.lineBytesMax, 1)
    const bytes = Buffer.byteLength(line.message)
    const kept = bytes <= room ? line : { ...line, message: truncateText(line.message, room) }
    if (bytes > room) this.isTruncated = true
    this.#push(kept, Math.min(bytes, room))
    if (this.bytes > this.#bytesMax) this.#makeRoom()
    return kept
  }

  /** Notes that so many lines are missing before the next one. */
  skip(lines: number): void {
    if (lines <= 0) return
    this.isTruncated = true
    this.#split()
    // What stands behind the gap is older than the lines that are missing.
    this.#omit(this.#lines.length - (this.#headLines ?? 0))
    this.#omitted = Math.min(this.#omitted + lines, Number.MAX_SAFE_INTEGER)
  }

  #isFlooded(): boolean {
    if (this.#headLines === undefined) return false
    const nowMs = this.#now()
    // A new period begins also when the clock was set back.
    if (Math.abs(nowMs - this.#countedMs) > floodMs) {
      this.#countedMs = nowMs
      this.#countedBytes = 0
    }
    return this.#countedBytes > this.#bytesMax
  }

  #push(line: LogLine, bytes: number): void {
    this.#lines.push(line)
    this.#sizes.push(bytes + lineBytes)
    this.bytes += bytes + lineBytes
    this.#countedBytes += bytes + lineBytes
  }

  #makeRoom(): void {
    this.isTruncated = true
    this.#split()
    const head = this.#headLines ?? 0
    const last = this.#lines.length - 1
    let count = 0
    let excess = this.bytes - this.#bytesMax
    while (excess > 0 && head + count < last) {
      excess -= this.#sizes[head + count] ?? 0
      count += 1
    }
    this.#omit(count)
  }

  /** Decides which lines stay in front of the gap: the first ones, up to half of the room. */
  #split(): void {
    if (this.#headLines !== undefined) return
    let count = 0
    let bytes = 0
    for (const size of this.#sizes) {
      if (bytes + size > this.#bytesMax / 2) break
      bytes += size
      count += 1
    }
    this.#headLines = count
  }

  #omit(count: number): void {
    if (count === 0) return
    const head = this.#headLines ?? 0
    this.#lines.splice(head, count)
    this.#sizes.splice(head, count)
    this.#omitted += count
    this.bytes = this.#sizes.reduce((sum, size) => sum + size, 0)
  }
}

/** The lines from number `from` on, each with its number in the whole log. */
export function numberLines(
  lines: readonly LogLine[],
  gap: LogGap | null,
  from: number,
): readonly { readonly index: number; readonly line: LogLine }[] {
  const numbered: { index: number; line: LogLine }[] = []
  const first =
    gap === null ? from : from < gap.after ? from : Math.max(gap.after, from - gap.lines)
  for (let at = first; at < lines.length; at++) {
    const index = gap === null || at < gap.after ? at : at + gap.lines
    numbered.push({ index, line: lines[at] as LogLine })
  }
  return numbered
}

/** The start of a log line as lists show it: one line without control characters. */
export function toLastLine({ message }: Pick<LogLine, "message">): string {
  // A line of a hundred kilobytes is not read to its end for this.
  const start = message.slice(0, 2 * lastLineCharsMax).toWellFormed()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be shown
  const text = start.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim()
  const short = text.slice(0, lastLineCharsMax).toWellFormed()
  return short.length < text.length || message.length > 2 * lastLineCharsMax ? `${short}…` : short
}
