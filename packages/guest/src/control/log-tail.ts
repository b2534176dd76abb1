/** The most that a tail holds, however long a log may be. */
const tailBytesMax = 262_144
/** What a line counts besides its message, so that empty lines are limited too. */
const lineBytes = 64

interface TailLine {
  readonly json: string
  readonly bytes: number
  next: TailLine | undefined
}

/** The last lines of a log. A linked list: a val may have changed what arrays do. */
export interface LogTail {
  readonly bytesMax: number
  bytes: number
  oldest: TailLine | undefined
  newest: TailLine | undefined
  /** The lines that were dropped since the last ones were sent. */
  skipped: number
  /** Whether a timer will send it. */
  isAwaited: boolean
}

/** The tail of a log of that size: half of it. The host keeps the first lines in the other half. */
export function createTail(logBytesMax: number): LogTail {
  return {
    bytesMax: logBytesMax > 2 * tailBytesMax ? tailBytesMax : logBytesMax / 2,
    bytes: 0,
    oldest: undefined,
    newest: undefined,
    skipped: 0,
    isAwaited: false,
  }
}

/** Adds a line, and drops the oldest ones beyond the limit. The newest line always stays. */
export function addToTail(tail: LogTail, json: string, messageBytes: number): void {
  const line: TailLine = { json, bytes: messageBytes + lineBytes, next: undefined }
  if (tail.newest === undefined) tail.oldest = line
  else tail.newest.next = line
  tail.newest = line
  tail.bytes += line.bytes
  while (tail.bytes > tail.bytesMax && tail.oldest !== line) {
    takeFromTail(tail)
    tail.skipped += 1
  }
}

/** Removes the oldest line and returns its JSON. */
export function takeFromTail(tail: LogTail): string | undefined {
  const { oldest } = tail
  if (oldest === undefined) return undefined
  tail.oldest = oldest.next
  if (tail.oldest === undefined) tail.newest = undefined
  tail.bytes -= oldest.bytes
  return oldest.json
}
