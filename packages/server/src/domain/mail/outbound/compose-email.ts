import type { EmailBody } from "@hamlet/contract"
import { AppError } from "../../app-error.ts"
import { toAttachmentType } from "../inbound/mail-content.ts"
import type { EmailContent, MailAddress, SendingVal } from "./emails.ts"

/** Which senders the operator allows. */
export interface SenderRules {
  /** The domain of the vals' addresses; undefined if they have none. */
  readonly domain: string | undefined
  /** The address of notices; also of all other mail if there is no domain. */
  readonly noticeAddress: string
  /** Further domains that a val may name in `from`; `*` stands for all but `domain`. */
  readonly fromDomains: readonly string[]
  /** Whether an email may go to addresses other than the confirmed one of its sender. */
  readonly allowsOthers: boolean
}

/** The user and the val that send an email. */
export interface Sender {
  readonly username: string
  /** Null for a request that comes from no val. */
  readonly val: SendingVal | null
  /** The user's confirmed address; null if there is none. */
  readonly ownAddress: string | null
}

/** A composed email: its content and all addresses to which it goes. */
export interface ComposedEmail {
  readonly from: string
  readonly recipients: readonly string[]
  readonly content: EmailContent
}

type Addresses = EmailBody["to"]
type OneAddress = Exclude<Addresses, readonly unknown[] | undefined>

/** Composes an email of a user: who sends it, who receives it, and what it contains. */
export function composeEmail(
  rules: SenderRules,
  sender: Sender,
  body: EmailBody,
  recipientsMax: number,
): ComposedEmail {
  const from = toFrom(rules, sender, body.from)
  const named = toAddresses(body.to)
  const to = named.length > 0 ? named : [toOwn(sender)]
  const cc = toAddresses(body.cc)
  const all = [...to, ...cc, ...toAddresses(body.bcc)]
  const recipients = [
    ...new Map(all.map(({ address }) => [address.toLowerCase(), address])).values(),
  ]
  if (recipients.length > recipientsMax)
    throw refuse("to", `must have at most ${recipientsMax} recipients together with cc and bcc`)
  const own = sender.ownAddress?.toLowerCase()
  if (!rules.allowsOthers && recipients.some((address) => address.toLowerCase() !== own))
    throw refuse("to", "must be your own confirmed address: this server sends no mail to others")
  const replyTo = toAddresses(body.replyTo ?? body.replyToList)
  const { text, html, headers, attachments } = body
  return {
    from: from.address,
    recipients,
    content: {
      from,
      to,
      ...(cc.length > 0 && { cc }),
      ...(replyTo.length > 0 && { replyTo }),
      subject: body.subject ?? `Message from @${sender.username}`,
      ...(text !== undefined && { text }),
      ...(html !== undefined && { html }),
      ...(headers && { headers }),
      ...(attachments && {
        attachments: attachments.map((file) => ({ ...file, type: toAttachmentType(file.type) })),
      }),
    },
  }
}

/**
 * The address of a val, `{user}.{val}@{domain}`. A request that comes from no val has one of the
 * same form: `{user}@{domain}` would let users whose name is `postmaster` or `admin` pass for the
 * server.
 */
function toOwnSender(rules: SenderRules, { username, val }: Sender): string {
  return rules.domain === undefined
    ? rules.noticeAddress
    : `${username}.${val?.name ?? "api"}@${rules.domain}`.toLowerCase()
}

/** The sender of a mail must not be able to pass for another user, or for the server. */
function toFrom(rules: SenderRules, sender: Sender, wanted: OneAddress | undefined): MailAddress {
  const own = toOwnSender(rules, sender)
  // Mail of all users has the address of notices then: the name tells it apart.
  const via = rules.domain === undefined ? toLabel(sender) : undefined
  if (wanted === undefined) return { address: own, name: via }
  const { address, name } = toAddress(wanted)
  assertName(name, [address, sender.ownAddress ?? address])
  if (isOwn(rules, sender, address)) return { address, name }
  if (address.toLowerCase() === own && via !== undefined)
    return { address, name: name ? `${name} (${via})` : via }
  const isNotice = address.toLowerCase() === rules.noticeAddress.toLowerCase()
  if (!isNotice && isOfFurtherDomain(rules, address)) return { address, name }
  throw refuse(
    "from",
    `must be ${rules.domain === undefined ? own : `an address of yours such as ${own}`}: the operator of this server allows no other sender`,
  )
}

/** Most mail programs show the name only: it must not be the address of another sender. */
function assertName(name: string | undefined, own: readonly string[]): void {
  // Letters that only look different count as the same.
  const addresses = name?.normalize("NFKC").match(/[^\s<>()",;:]+@[^\s<>()",;:]+/g) ?? []
  const isOwnAddress = (found: string) =>
    own.some((address) => address.toLowerCase() === found.toLowerCase())
  if (!addresses.every(isOwnAddress))
    throw refuse("from", "must not have another email address in its name; replyTo can be any")
}

function toLabel({ username, val }: Sender): string {
  return val === null ? username : `${username}.${val.name}`
}

/** Whether it is an address of a val of the user, or may become one. Names have no dots. */
function isOwn(rules: SenderRules, { username }: Sender, address: string): boolean {
  const wanted = address.toLowerCase()
  const prefix = `${username.toLowerCase()}.`
  const [local = "", host] = wanted.split("@")
  return (
    host === rules.domain &&
    wanted !== rules.noticeAddress.toLowerCase() &&
    local.startsWith(prefix) &&
    /^\w+$/.test(local.slice(prefix.length))
  )
}

/** The addresses of `domain` belong to users, so that `*` does not include them. */
function isOfFurtherDomain({ fromDomains, domain }: SenderRules, address: string): boolean {
  const host = address.slice(address.lastIndexOf("@") + 1).toLowerCase()
  return fromDomains.includes(host) || (fromDomains.includes("*") && host !== domain)
}

function toOwn({ ownAddress }: Sender): MailAddress {
  if (ownAddress !== null) return { address: ownAddress }
  throw new AppError(
    "email_unverified",
    'Cannot send the email: it has no recipient, and your profile has no confirmed email address; set it and confirm it (Account in the web app, or "hamlet mail confirm"), or name a recipient',
  )
}

function toAddresses(addresses: Addresses): readonly MailAddress[] {
  if (addresses === undefined) return []
  return Array.isArray(addresses) ? addresses.map(toAddress) : [toAddress(addresses)]
}

function toAddress(address: OneAddress): MailAddress {
  if (typeof address === "string") return { address }
  return { address: address.email, name: address.name || undefined }
}

function refuse(path: string, message: string): AppError {
  return new AppError("invalid_request", `Cannot send the email: "${path}" ${message}`, {
    issues: [{ path, message }],
  })
}
