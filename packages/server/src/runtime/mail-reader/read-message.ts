import { createHash } from "node:crypto"
import { truncateText } from "@hamlet/kit"
import PostalMime, { type Address, type Attachment, addressParser, type Email } from "postal-mime"
import type { MailAuth, ReadMail } from "../../domain/mail/inbound/mail.ts"
import {
  type EmailArgument,
  encodeMail,
  type MailFile,
  toRecordedArgument,
} from "../../domain/mail/inbound/mail-content.ts"
import { checkSender } from "./check-sender.ts"
import {
  assertGrowth,
  assertHeader,
  assertLines,
  assertParts,
  endLines,
  findHeaderEnd,
  MessageRefused,
  messageLimits,
} from "./message-limits.ts"
import type { MailOrigin } from "./reader-messages.ts"

/** Texts in the summary that the run shows. */
const summaryBytesMax = 1_000
/** The reply to the sender and a line of the log contain it. */
const autoSubmittedCharsMax = 50

/**
 * Reads a message and checks its sender. A message without an origin is a file, whose lines may end
 * as those of any system. Throws MessageRefused.
 */
export async function readMessage(
  received: Uint8Array,
  origin: MailOrigin | undefined,
): Promise<ReadMail> {
  const raw = origin ? received : endLines(received)
  assertLines(raw)
  assertHeader(raw)
  assertParts(raw)
  const parsed = await parse(raw)
  const fromAddress = findFromAddress(parsed)
  const { auth, proof } = await checkSender(raw, origin, fromAddress)
  const envelopeFrom = origin?.connection.mailFrom ?? fromAddress
  const { email, files } = toEmailArgument(parsed, auth, envelopeFrom)
  const content = encodeMail(email, files)
  assertGrowth(raw.length, content.length)
  const messageId = findHeader(parsed, "message-id")?.replace(/^<|>$/g, "")
  return {
    fromAddress,
    email: {
      from: truncateText(email.from, summaryBytesMax),
      subject: email.subject === undefined ? null : truncateText(email.subject, summaryBytesMax),
      messageId: messageId === undefined ? null : truncateText(messageId, summaryBytesMax),
      bytes: raw.length,
      attachments: files.length,
      auth,
    },
    recorded: toRecordedArgument(email, files),
    content,
    fingerprint: proof ? `dkim/${proof.hash}` : toFingerprint(parsed, raw, auth),
    signature: proof?.signature,
    loop: {
      autoSubmitted: findAutoSubmitted(parsed),
      messageId,
      hops: parsed.headers.filter(({ key }) => key === "received").length,
    },
  }
}

async function parse(raw: Uint8Array): Promise<Email> {
  try {
    return await PostalMime.parse(raw, {
      attachmentEncoding: "arraybuffer",
      maxNestingDepth: messageLimits.levelsMax,
      maxHeadersSize: messageLimits.headerBytesMax * 2,
      maxRfc822NestingDepth: messageLimits.innerMessagesMax,
    })
  } catch (error) {
    // The parser throws for its limits only.
    throw new MessageRefused(
      `the message cannot be read: ${error instanceof Error ? error.message : error}`,
    )
  }
}

/** RFC 5322 wants one author. With several, programs disagree on who the sender is. */
function findFromAddress(parsed: Email): string {
  const headers = parsed.headers.filter(({ key }) => key === "from")
  const [header] = headers
  if (headers.length !== 1 || !header) throw noAuthor("one From header")
  const mailboxes = addressParser(header.value, { flatten: true }) as readonly Address[]
  const address = mailboxes[0]?.address
  if (mailboxes.length !== 1 || !address?.includes("@")) throw noAuthor("one address in From")
  return address.toLowerCase()
}

function noAuthor(wanted: string): MessageRefused {
  return new MessageRefused(`the message does not have ${wanted}`)
}

function findHeader({ headers }: Email, name: string): string | undefined {
  return headers.find(({ key }) => key === name)?.value.trim()
}

function findAutoSubmitted(parsed: Email): string | undefined {
  const [value] = findHeader(parsed, "auto-submitted")?.split(";", 1) ?? []
  return value?.trim().toLowerCase().slice(0, autoSubmittedCharsMax)
}

/** Headers that stay the same whatever way a message takes. */
const ownHeaders = ["from", "to", "cc", "subject", "date", "message-id"]

/**
 * A hash of the body and of the headers that the sender wrote. Without a date and an id, two
 * messages with the same text may be meant to be two. Whether the sender is verified is part of it:
 * otherwise a forged copy that comes first would keep the real message from the val.
 */
function toFingerprint(
  parsed: Email,
  raw: Uint8Array,
  { isFromVerified }: MailAuth,
): string | undefined {
  if (!findHeader(parsed, "message-id") && !findHeader(parsed, "date")) return undefined
  const hash = createHash("sha256").update(`${isFromVerified}\r\n`)
  for (const name of ownHeaders) hash.update(`${name}:${findHeader(parsed, name) ?? ""}\r\n`)
  return hash.update(raw.subarray(findHeaderEnd(raw))).digest("hex")
}

/** What a val of type `email` is called with. */
interface Argument {
  readonly email: EmailArgument
  readonly files: readonly MailFile[]
}

/** The argument for a message. Its files become the `attachments`. */
function toEmailArgument(parsed: Email, auth: MailAuth, envelopeFrom: string): Argument {
  const email: EmailArgument = {
    from: toAddressText(parsed.from),
    to: toAddressTexts(parsed.to) ?? [],
    cc: toAddressTexts(parsed.cc),
    bcc: toAddressTexts(parsed.bcc),
    replyTo: toAddressTexts(parsed.replyTo),
    subject: parsed.subject,
    text: parsed.text,
    html: parsed.html,
    date: toIsoDate(parsed.date),
    messageId: parsed.messageId,
    inReplyTo: parsed.inReplyTo,
    references: parsed.references,
    headers: toHeaders(parsed),
    envelopeFrom,
    auth,
  }
  return { email, files: parsed.attachments.map(toFile) }
}

function toAddressTexts(addresses: readonly Address[] | undefined): string[] | undefined {
  const texts = addresses?.flatMap((one) =>
    one.group ? one.group.map(toAddressText) : toAddressText(one),
  )
  return texts && texts.length > 0 ? texts : undefined
}

function toAddressText(mailbox: Address | undefined): string {
  const address = mailbox?.address ?? ""
  const name = (mailbox?.name ?? "").replaceAll(/[\r\n"\\<>]/g, "").trim()
  if (name === "") return address
  return /^[\p{L}\p{N} !#$%&'*+/=?^_`{|}~-]+$/u.test(name)
    ? `${name} <${address}>`
    : `"${name}" <${address}>`
}

function toIsoDate(date: string | undefined): string | undefined {
  return date !== undefined && !Number.isNaN(Date.parse(date)) ? date : undefined
}

/** By name in lower case; a header that occurs several times has a list of values. */
function toHeaders({ headers }: Email): Record<string, string | string[]> {
  const byName = Map.groupBy(headers, ({ key }) => key)
  return Object.fromEntries(
    [...byName].map(([key, all]) => {
      const values = all.map(({ value }) => value)
      return [key, values.length === 1 ? (values[0] ?? "") : values]
    }),
  )
}

function toFile({ filename, mimeType, content }: Attachment, index: number): MailFile {
  return {
    name: toFileName(filename) ?? `attachment-${index + 1}`,
    type: mimeType,
    bytes: toBytes(content),
  }
}

/** Without folders: vals write files under the name that they get. */
function toFileName(name: string | null): string | undefined {
  const last = (name ?? "").split(/[/\\]/).at(-1) ?? ""
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  const clean = last.replaceAll(/[\u0000-\u001f\u007f]/g, "").trim()
  return clean === "" || clean === "." || clean === ".."
    ? undefined
    : clean.slice(0, messageLimits.fileNameCharsMax).toWellFormed()
}

function toBytes(content: Attachment["content"]): Uint8Array {
  if (typeof content === "string") return new TextEncoder().encode(content)
  return content instanceof Uint8Array ? content : new Uint8Array(content)
}
