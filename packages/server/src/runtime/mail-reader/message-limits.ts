import { mailLimits } from "../../domain/mail/inbound/mail.ts"

/** What a message may consist of. Ordinary messages stay far below. */
export const messageLimits = {
  headerBytesMax: 262_144,
  headersMax: 1_000,
  /** Each is verified with a name server and a hash of the message. */
  signaturesMax: 20,
  partsMax: 1_000,
  /** Lines that could begin a part. */
  dashLinesMax: 100_000,
  levelsMax: 32,
  /** Messages in messages that are read; those in them are files. */
  innerMessagesMax: 4,
  fileNameCharsMax: 255,
  /**
   * How many times larger than the message its argument may be, and how many bytes at most. Letters
   * of old charsets take three bytes at most; a text of control characters would take six times its
   * size as JSON, and line breaks even more in the HTML of a forwarded message. A small message may
   * grow by `growthBytesMin` in any case.
   */
  growthMax: 3,
  growthBytesMax: 16_777_216,
  growthBytesMin: 262_144,
}

/** A message that a server should refuse for good. */
export class MessageRefused extends Error {}

const lineFeed = 0x0a
const carriageReturn = 0x0d

/**
 * Refuses what RFC 5321 forbids in a message: NUL, and a CR or LF alone. Programs disagree on where
 * lines end then, so that what one takes for text is the header of another. Also refuses more lines
 * than are read.
 */
export function assertLines(raw: Uint8Array): void {
  if (raw.includes(0)) throw new MessageRefused("the message contains a NUL byte")
  let lines = 0
  for (let at = raw.indexOf(lineFeed); at !== -1; at = raw.indexOf(lineFeed, at + 1)) {
    if (at === 0 || raw[at - 1] !== carriageReturn) throw bareLineBreak()
    lines += 1
    if (lines > mailLimits.linesMax) throw tooManyLines()
  }
  for (let at = raw.indexOf(carriageReturn); at !== -1; at = raw.indexOf(carriageReturn, at + 1))
    if (raw[at + 1] !== lineFeed) throw bareLineBreak()
}

function bareLineBreak(): MessageRefused {
  return new MessageRefused("the message contains a CR or LF alone")
}

/**
 * A file with the line ends of any system as a message. Refuses more lines than are read before it
 * makes the message larger.
 */
export function endLines(file: Uint8Array): Uint8Array {
  let breaks = 0
  for (let at = 0; at < file.length; at++) if (isLineEnd(file, at)) breaks += 1
  if (breaks > mailLimits.linesMax) throw tooManyLines()
  const message = new Uint8Array(file.length + breaks)
  let end = 0
  for (let at = 0; at < file.length; at++) {
    if (isLineEnd(file, at)) {
      message[end++] = carriageReturn
      message[end++] = lineFeed
    } else {
      const byte = file[at] ?? 0
      // The CR of a line that ends with both is written with the LF.
      if (byte !== carriageReturn) message[end++] = byte
    }
  }
  return message.subarray(0, end)
}

/** A LF, or a CR without a LF behind it. */
function isLineEnd(file: Uint8Array, at: number): boolean {
  const byte = file[at]
  return byte === lineFeed || (byte === carriageReturn && file[at + 1] !== lineFeed)
}

function tooManyLines(): MessageRefused {
  return new MessageRefused(`the message has more than ${mailLimits.linesMax} lines`)
}

/** The bytes of the header, without the empty line after it. */
export function findHeaderEnd(raw: Uint8Array): number {
  const found = Buffer.from(raw.buffer, raw.byteOffset, raw.length).indexOf("\r\n\r\n")
  return found === -1 ? raw.length : found + 2
}

/** Refuses a message whose header would take too long to read. */
export function assertHeader(raw: Uint8Array): void {
  const headerEnd = findHeaderEnd(raw)
  if (headerEnd > messageLimits.headerBytesMax)
    throw new MessageRefused("the header of the message is too long")
  const header = Buffer.from(raw.buffer, raw.byteOffset, headerEnd).toString("latin1")
  if (countMatches(header, /\r\n(?![ \t])/g) > messageLimits.headersMax)
    throw new MessageRefused("the message has too many headers")
  if (countMatches(header, /^dkim-signature[ \t]*:/gim) > messageLimits.signaturesMax)
    throw new MessageRefused("the message has too many signatures")
}

/** Counts the lines that begin a part, before anything is allocated for the parts. */
export function assertParts(raw: Uint8Array): void {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString("latin1")
  const boundaries = new Set<string>()
  for (const [, quoted, token] of text.matchAll(
    /boundary\s*=\s*(?:"([^"]{1,200})"|([^\s";]+))/gi,
  )) {
    boundaries.add(quoted ?? token ?? "")
    if (boundaries.size > messageLimits.partsMax) throw tooManyParts()
  }
  let parts = 0
  let lines = 0
  for (const [, line = ""] of text.matchAll(/^--([^\r\n]{0,250})/gm)) {
    lines += 1
    if (boundaries.has(line.trimEnd())) parts += 1
    if (parts > messageLimits.partsMax || lines > messageLimits.dashLinesMax) throw tooManyParts()
  }
}

/** Refuses a message whose argument is out of proportion: the server handles several at once. */
export function assertGrowth(rawBytes: number, argumentBytes: number): void {
  const { growthMax, growthBytesMax, growthBytesMin } = messageLimits
  const growthBytes = Math.min(rawBytes * (growthMax - 1), growthBytesMax)
  if (argumentBytes > rawBytes + Math.max(growthBytes, growthBytesMin))
    throw new MessageRefused("the message becomes too large when it is decoded")
}

function tooManyParts(): MessageRefused {
  return new MessageRefused("the message has too many parts")
}

function countMatches(text: string, pattern: RegExp): number {
  let count = 0
  for (const _match of text.matchAll(pattern)) count += 1
  return count
}
