import { createHash } from "node:crypto"
import PostalMime, { type Address, addressParser, type Email } from "postal-mime"
import type { MailAuth, ReadMail } from "../../domain/mail/inbound/mail.ts"
import { encodeMail, toRecordedArgument } from "../../domain/mail/inbound/mail-content.ts"
import { truncateText } from "../../domain/runs/truncate.ts"
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
import { toEmailArgument } from "./to-argument.ts"

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
