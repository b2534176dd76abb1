import type { OutgoingMessage } from "../../domain/mail/outbound/deliver-email.ts"
import type { EmailContent, MailAddress } from "../../domain/mail/outbound/emails.ts"

/** What the headers of all messages have in common. */
export interface MessageIdentity {
  /** The domain of message ids, which tells the messages of this server apart. */
  readonly domain: string
  /** The address of the server's own messages. */
  readonly noticeAddress: string
  /** Signs messages; undefined if messages are not signed here. */
  readonly dkim: DkimKey | undefined
}

/** The key whose public part is at `{selector}._domainkey.{domain}`. */
export interface DkimKey {
  readonly domain: string
  readonly selector: string
  /** PEM. */
  readonly key: string
}

/** A message in the format of the internet, and the addresses of its envelope. */
export interface CompiledMessage {
  readonly bytes: Uint8Array
  /** Empty for a message of the server itself, which gets no replies, not even a bounce. */
  readonly sender: string
}

/**
 * Writes a message in the format of the internet. Its id, date and boundaries come from the email,
 * so that each attempt sends the same bytes and a receiver can tell a repeated one.
 */
export async function compileMessage(
  identity: MessageIdentity,
  { id, createdAt, isNotice, content: json, recipients }: OutgoingMessage,
): Promise<CompiledMessage> {
  // The library is large, and most servers send no mail.
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer")
  // We wrote it.
  const content = JSON.parse(Buffer.from(json).toString()) as EmailContent
  const from = content.from ?? { address: identity.noticeAddress }
  const to = content.to ?? recipients.map((address) => ({ address }))
  const message = new MailComposer({
    from: toAddress(from),
    to: to.map(toAddress),
    cc: content.cc?.map(toAddress),
    replyTo: content.replyTo?.map(toAddress),
    subject: content.subject,
    text: content.text ?? (content.html === undefined ? "" : undefined),
    html: content.html,
    headers: {
      ...content.headers,
      ...(isNotice && { "Auto-Submitted": "auto-generated" }),
    },
    attachments: content.attachments?.map((file) => ({
      filename: file.filename,
      content: Buffer.from(file.content, "base64"),
      contentType: file.type,
      contentDisposition: file.disposition,
      ...(file.contentId && { cid: file.contentId }),
    })),
    messageId: `<${id}@${identity.domain}>`,
    date: new Date(createdAt),
    baseBoundary: id,
    // The content is that of a val: it must not name files or addresses to be read by the server.
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile()
  return {
    bytes: await sign(identity.dkim, await message.build()),
    sender: isNotice ? "" : from.address,
  }
}

async function sign(dkim: DkimKey | undefined, bytes: Buffer): Promise<Buffer> {
  if (!dkim) return bytes
  const { default: DKIM } = await import("nodemailer/lib/dkim")
  const { domain: domainName, selector: keySelector, key: privateKey } = dkim
  const signed = new DKIM({ domainName, keySelector, privateKey }).sign(bytes)
  return Buffer.concat(await signed.toArray())
}

function toAddress({ address, name }: MailAddress): { address: string; name: string } {
  return { address, name: name ?? "" }
}
