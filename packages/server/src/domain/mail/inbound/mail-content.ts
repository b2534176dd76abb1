import { toOwnJson, truncateText } from "@hamlet/kit"
import type { MailAuth } from "./mail.ts"

/** What a val of type `email` is called with, before its files and its `recipient` are added. */
export interface EmailArgument {
  readonly from: string
  readonly to: readonly string[]
  readonly cc?: readonly string[] | undefined
  readonly bcc?: readonly string[] | undefined
  readonly replyTo?: readonly string[] | undefined
  readonly subject?: string | undefined
  readonly text?: string | undefined
  readonly html?: string | undefined
  /** In ISO format; the guest makes a Date of it. */
  readonly date?: string | undefined
  readonly messageId?: string | undefined
  readonly inReplyTo?: string | undefined
  readonly references?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** The address of `MAIL FROM`. */
  readonly envelopeFrom: string
  readonly auth: MailAuth
}

/** A file of a message. */
export interface MailFile {
  readonly name: string
  /** Its media type. */
  readonly type: string
  readonly bytes: Uint8Array
}

/**
 * The argument with its files, as it is stored and as the guest reads it: the length of the JSON in
 * four bytes, the higher ones first, the JSON, and the bytes of all files one after the other. The
 * files are listed in the JSON as `attachments`, each with its name, type and size.
 */
export function encodeMail(email: EmailArgument, files: readonly MailFile[]): Uint8Array {
  const attachments = files.map(({ name, type, bytes }) => ({ name, type, size: bytes.length }))
  const json = Buffer.from(toOwnJson({ ...email, attachments }))
  const frame = Buffer.allocUnsafeSlow(
    files.reduce((sum, { bytes }) => sum + bytes.length, lengthBytes + json.length),
  )
  frame.writeUInt32BE(json.length, 0)
  frame.set(json, lengthBytes)
  let end = lengthBytes + json.length
  for (const { bytes } of files) {
    frame.set(bytes, end)
    end += bytes.length
  }
  return frame
}

/**
 * Adds the address that the message was sent to. The content comes in pieces, `bytes` in all, and is
 * in memory once: it may be large, and several runs start at the same time.
 */
export async function withRecipient(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytes: number,
  recipient: string,
): Promise<Uint8Array> {
  // The JSON is an object with members: this one becomes the first.
  const member = Buffer.from(`"recipient":${toOwnJson(recipient)},`)
  const frame = Buffer.allocUnsafeSlow(member.length + bytes)
  let end = member.length
  for await (const piece of pieces) {
    if (end + piece.length > frame.length) throw new Error("Stored mail is longer than recorded")
    frame.set(piece, end)
    end += piece.length
  }
  if (end < frame.length) throw new Error("Stored mail is shorter than recorded")
  frame.writeUInt32BE(frame.readUInt32BE(member.length) + member.length, 0)
  frame.write("{", lengthBytes)
  frame.set(member, lengthBytes + 1)
  return frame
}

const lengthBytes = 4

const recordedLimits = { textBytesMax: 20_000, headersMax: 50, headerBytesMax: 400, listMax: 50 }

/** The argument as the record of the run shows it: without files, and long texts are truncated. */
export function toRecordedArgument(email: EmailArgument, files: readonly MailFile[]): unknown {
  const { textBytesMax, headersMax, headerBytesMax, listMax } = recordedLimits
  const cut = (text: string | undefined, bytesMax = textBytesMax) =>
    text === undefined ? undefined : truncateText(text, bytesMax)
  const cutList = (texts: readonly string[] | undefined) =>
    texts?.slice(0, listMax).map((text) => cut(text, headerBytesMax))
  return {
    ...email,
    to: cutList(email.to),
    cc: cutList(email.cc),
    bcc: cutList(email.bcc),
    replyTo: cutList(email.replyTo),
    subject: cut(email.subject),
    text: cut(email.text),
    html: cut(email.html),
    references: cut(email.references, headerBytesMax),
    headers: Object.fromEntries(
      Object.entries(email.headers)
        .slice(0, headersMax)
        .map(([name, value]) => [
          cut(name, headerBytesMax),
          cut([value].flat().join(", "), headerBytesMax),
        ]),
    ),
    attachments: files
      .slice(0, listMax)
      .map(({ name, type, bytes }) => ({ name, type, size: bytes.length })),
  }
}

/**
 * The content type of a file, as its sender wrote it. Vals written for Val Town say `text`. Any other
 * word without a slash says less than the name of the file.
 */
export function toAttachmentType(type: string | undefined): string | undefined {
  if (type === undefined || type.includes("/")) return type
  return type.toLowerCase() === "text" ? "text/plain" : undefined
}
