import type { Address, Attachment, Email } from "postal-mime"
import type { MailAuth } from "../../domain/mail/inbound/mail.ts"
import type { EmailArgument, MailFile } from "../../domain/mail/inbound/mail-content.ts"
import { messageLimits } from "./message-limits.ts"

/** What a val of type `email` is called with. */
export interface Argument {
  readonly email: EmailArgument
  readonly files: readonly MailFile[]
}

/** The argument for a message. Its files become the `attachments`. */
export function toEmailArgument(parsed: Email, auth: MailAuth, envelopeFrom: string): Argument {
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
