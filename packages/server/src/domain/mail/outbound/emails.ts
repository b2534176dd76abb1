import type { emailRecord } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import type { Claim } from "../../claims.ts"
import type { Stored } from "../../records/stored.ts"

type EmailView = Stored<typeof emailRecord>

/** The status of an outgoing email. */
export type EmailStatus = EmailView["status"]

/** An address, with the name that mail programs show. */
export interface MailAddress {
  readonly address: string
  readonly name?: string | undefined
}

/** One recipient of an email, and whether they got it. */
export interface Recipient {
  readonly address: string
  readonly status: EmailStatus
}

/** The val that sends an email. */
export type SendingVal = NonNullable<EmailView["val"]>

/** An outgoing email, without its content. */
export interface Email extends Omit<EmailView, "to" | "links"> {
  readonly accountId: string
  readonly recipients: readonly Recipient[]
}

/** The content of an email. It is stored as JSON. */
export interface EmailContent {
  /** Null for the address of the server's notices. */
  readonly from: MailAddress | null
  /** Null for all recipients of the email. */
  readonly to: readonly MailAddress[] | null
  readonly cc?: readonly MailAddress[]
  readonly replyTo?: readonly MailAddress[]
  readonly subject: string
  readonly text?: string | undefined
  readonly html?: string | undefined
  readonly attachments?: readonly EmailAttachment[]
  readonly headers?: Readonly<Record<string, string>>
}

/** A file of an email. */
export interface EmailAttachment {
  /** Base64. */
  readonly content: string
  readonly filename: string
  readonly type?: string | undefined
  readonly disposition?: "attachment" | "inline" | undefined
  readonly contentId?: string | undefined
}

/** An email to be stored and sent. */
export interface NewEmail
  extends Pick<Email, "id" | "accountId" | "kind" | "runId" | "val" | "from" | "subject"> {
  readonly recipients: readonly string[]
  readonly content: Uint8Array
  readonly createdAt: number
}

/** What an account may send. */
export interface EmailAllowance {
  /** In 24 hours. Each recipient counts; undefined for no limit. */
  readonly recipientsPerDay: number | undefined
  /** In 24 hours, once per email; undefined for no limit. */
  readonly bytesPerDay: number | undefined
  /** The size of all emails that wait or have failed. */
  readonly storedBytesMax: number
}

/** Why an email was not stored: the allowance of the day is used up, or there is no room. */
export type EmailRefusal =
  | { readonly kind: "used_up"; readonly retryAfterMs: number }
  | { readonly kind: "no_room" }

/** The result of asking for another attempt. */
export type Resending =
  | EmailRefusal
  | { readonly kind: "not_found" }
  | { readonly kind: "not_failed" }
  | { readonly kind: "resent" }

/** An email that is to be sent now. */
export interface EmailToSend {
  readonly email: Email
  /** The JSON of an EmailContent. Null if it is not stored any more. */
  readonly content: Uint8Array | null
  /** The account is suspended or deleted: it sends nothing. */
  readonly isSuspended: boolean
}

/** The outcome of an attempt. */
export interface EmailOutcome {
  readonly recipients: readonly Recipient[]
  readonly error: string | null
  /** The delay until the next attempt; undefined when there is none. */
  readonly retryMs: number | undefined
  readonly at: number
}

/** A message of the server to a user. */
export interface Notice {
  readonly id: string
  readonly userId: string
  readonly subject: string
  readonly text: string
  readonly at: number
}

/** What an account has sent in 24 hours, in emails that count against its allowance. */
export interface UsedMail {
  readonly recipients: number
  readonly bytes: number
}

/** A code that confirms an address, as it is stored. */
export interface EmailCode {
  readonly userId: string
  readonly email: string
  readonly hash: Uint8Array
  readonly expiresAt: number
}

/** Stores outgoing emails. */
export interface EmailStore {
  /** Undefined when the email was stored, and with it the code that it contains. */
  add(
    email: NewEmail,
    allowance: EmailAllowance,
    code?: EmailCode,
  ): Promise<EmailRefusal | undefined>
  /**
   * Stores a copy of a failed email with a new id, for the recipients that did not get it.
   */
  resend(
    accountId: string,
    id: string,
    copy: { readonly id: string; readonly at: number },
    allowance: EmailAllowance,
  ): Promise<Resending>
  find(accountId: string, id: string): Promise<Email | undefined>
  findUsed(accountId: string, at: number): Promise<UsedMail>
  /** Newest first. */
  list(accountId: string, status: EmailStatus | undefined, page: PageRequest): Promise<Page<Email>>
  /** The emails that a run on the account has sent, oldest first. */
  listOfRun(accountId: string, runId: string, countMax: number): Promise<readonly Email[]>
  /** Undefined when it waits no more. */
  findToSend(id: string): Promise<EmailToSend | undefined>
  /** Records the outcome of an attempt. False when the claim is no longer valid. */
  record(claim: Claim, outcome: EmailOutcome): Promise<boolean>
  /** Tells scripts whether the server sends mail, and from which address notices come. */
  setNoticeSender(address: string | null): Promise<void>
  /**
   * Deletes some emails that ended before `endedBefore`, and the content of some that failed before
   * `failedBefore`. False when nothing is left to delete.
   */
  purge(endedBefore: number, failedBefore: number, countMax: number): Promise<boolean>
}
