import type { MailVal } from "../../domain/mail/inbound/mail-rules.ts"
import type { MailRecipient } from "../../domain/mail/inbound/receive-mail.ts"
import { SmtpReply } from "./replies.ts"
import { smtpLimits } from "./smtp-limits.ts"

/**
 * What the server remembers of a connection.
 *
 * A recipient is *open* if its val is public or unlisted. Any other address is *hidden*: a private
 * val, which only its owner may write to, or no val at all. Who the sender is turns out after the
 * message only, so a hidden recipient is accepted for now. Both kinds get the same replies, so that
 * no sender learns which private vals exist. A message has one hidden recipient or several open
 * ones: the reply to the message then concerns all recipients alike.
 */
export class SmtpSession {
  readonly address: string
  /** When it last sent a command, or its message was over. */
  activeMs: number
  readonly #recipients = new Map<string, MailRecipient>()
  #hasHidden = false
  #messages = 0
  #refusals = 0
  #postponements = 0
  /** Whether a message is being received or stored. */
  isReceiving = false

  get isBusy(): boolean {
    return this.isReceiving
  }

  constructor(address: string, nowMs: number) {
    this.address = address
    this.activeMs = nowMs
  }

  get recipients(): readonly MailRecipient[] {
    return [...this.#recipients.values()]
  }

  beginMessage(): void {
    this.#recipients.clear()
    this.#hasHidden = false
    if (this.#messages >= smtpLimits.messagesPerConnectionMax)
      throw new SmtpReply(421, "4.7.0 Too many messages over one connection")
    this.#messages += 1
  }

  hasRecipient(address: string): boolean {
    return this.#recipients.has(address.toLowerCase())
  }

  /** Throws the reply if the message cannot also go to this recipient. */
  assertRecipient(address: string, val: MailVal | undefined): void {
    const key = address.toLowerCase()
    const isAlone = [...this.#recipients.keys()].every((other) => other === key)
    if (!isAlone && (isHidden(val) || this.#hasHidden))
      throw new SmtpReply(452, "4.5.3 Send the message to this recipient separately")
  }

  addRecipient(address: string, val: MailVal | undefined): void {
    this.#hasHidden = isHidden(val)
    this.#recipients.set(address.toLowerCase(), { address, val })
  }

  /**
   * Returns the reply, or that the connection ends if there were too many of them. A client that is
   * asked to try again later gets more patience, because a server in trouble asks all of them.
   */
  countRefusal(reply: SmtpReply): SmtpReply {
    if (reply.responseCode >= 500) this.#refusals += 1
    else this.#postponements += 1
    const { refusalsPerConnectionMax, postponementsPerConnectionMax } = smtpLimits
    return this.#refusals < refusalsPerConnectionMax &&
      this.#postponements < postponementsPerConnectionMax
      ? reply
      : new SmtpReply(421, "4.7.0 Too many refused recipients or messages")
  }
}

/** Whether a sender must not learn that there is such a val, or that there is none. */
export function isHidden(val: MailVal | undefined): boolean {
  return val === undefined || val.privacy === "private"
}
