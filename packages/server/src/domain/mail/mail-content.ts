import { truncateText } from "../runs/truncate.ts"
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
  return toFrame(
    Buffer.from(JSON.stringify({ ...email, attachments })),
    files.map(({ bytes }) => bytes),
  )
}

/** Adds the address that the message was sent to. */
export function withRecipient(content: Uint8Array, recipient: string): Uint8Array {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length)
  const jsonEnd = lengthBytes + bytes.readUInt32BE(0)
  // The JSON is an object with members.
  const json = `{"recipient":${JSON.stringify(recipient)},`
  return toFrame(Buffer.concat([Buffer.from(json), bytes.subarray(lengthBytes + 1, jsonEnd)]), [
    bytes.subarray(jsonEnd),
  ])
}

const lengthBytes = 4

function toFrame(json: Uint8Array, rest: readonly Uint8Array[]): Uint8Array {
  const length = new Uint8Array(lengthBytes)
  new DataView(length.buffer).setUint32(0, json.length)
  // A buffer of its own, so that a thread can hand it over.
  const frame = new Uint8Array(
    rest.reduce((sum, part) => sum + part.length, lengthBytes + json.length),
  )
  let at = 0
  for (const part of [length, json, ...rest]) {
    frame.set(part, at)
    at += part.length
  }
  return frame
}

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
