import { type Backoff, findRetryDelay } from "@hamlet/kit"
import type { Claim } from "../../claims.ts"
import type { Clock } from "../../clock.ts"
import type { Email, EmailOutcome, EmailStore, EmailToSend, Recipient } from "./emails.ts"

/** Attempts to deliver an email, for a day: after one minute, two, four, … then every two hours. */
export const mailBackoff: Backoff = {
  firstMs: 60_000,
  factor: 2,
  delayMsMax: 7_200_000,
  forMs: 86_400_000,
}

/** Hands messages to the operator's mail server. */
export interface MailTransport {
  /** Never throws, except when the signal is aborted. */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<TransportOutcome>
  stop(): Promise<void>
}

/** A message as it is handed to a mail server. The same id gives the same bytes. */
export interface OutgoingMessage {
  readonly id: string
  readonly createdAt: number
  /** Its sender is a program of the server itself: it gets no replies and no bounces. */
  readonly isNotice: boolean
  /** The JSON of an EmailContent. It may be large, and is parsed where the message is written. */
  readonly content: Uint8Array
  /** The recipients who have not got the email yet. */
  readonly recipients: readonly string[]
}

/** What the mail server said. */
export type TransportOutcome =
  | {
      readonly kind: "sent"
      readonly rejected: readonly {
        readonly address: string
        readonly error: string
        readonly isPermanent: boolean
      }[]
    }
  | {
      readonly kind: "failed"
      /** For the user. */
      readonly error: string
      /** For the operator: it may name the mail server. */
      readonly cause: string
      readonly isPermanent: boolean
    }

/** What the metrics count. */
export type AttemptStatus = "sent" | "failed" | "retried"

const errorCharsMax = 1_000

/** Counts attempts, and hears whether the mail server can be used. */
export interface DeliveryObserver {
  onOutcome(status: AttemptStatus): void
  /** Called when the mail server cannot be used, and without a problem when it can again. */
  onAvailability(problem: string | undefined): void
}

interface EmailDeliveryParts {
  readonly store: Pick<EmailStore, "findToSend" | "record">
  readonly transport: Pick<MailTransport, "send">
  readonly observer: DeliveryObserver
  readonly clock: Pick<Clock, "now">
}

/** Creates the function that makes one attempt to send an email, and records its outcome. */
export function createEmailDelivery({
  store,
  transport,
  observer: { onOutcome, onAvailability },
  clock: { now },
}: EmailDeliveryParts) {
  return async (claim: Claim, signal: AbortSignal): Promise<void> => {
    const found = await store.findToSend(claim.id)
    if (!found) return
    const { email, isSuspended } = found
    const message = toMessage(found)
    const outcome = message
      ? await transport.send(message, signal)
      : toObstacle(isSuspended ? "the account is suspended" : "its content is not stored any more")
    if (message)
      onAvailability(outcome.kind === "failed" && !outcome.isPermanent ? outcome.cause : undefined)
    const next = toEmailOutcome(email, outcome, claim.attempts, now())
    if (await store.record(claim, next)) onOutcome(toEmailStatus(next))
  }
}

/** The message to those who have not got it yet; undefined if it must not or cannot be sent. */
function toMessage({ email, content, isSuspended }: EmailToSend): OutgoingMessage | undefined {
  if (isSuspended || content === null) return undefined
  const { id, createdAt, kind } = email
  const recipients = email.recipients.flatMap(({ address, status }) =>
    status === "waiting" ? [address] : [],
  )
  const isNotice = kind === "notice" || kind === "confirmation"
  return { id, createdAt, content, recipients, isNotice }
}

function toObstacle(error: string): TransportOutcome {
  return { kind: "failed", error, cause: "", isPermanent: true }
}

/** What is recorded: each recipient has got it, waits for another attempt, or never gets it. */
export function toEmailOutcome(
  email: Pick<Email, "recipients" | "createdAt" | "error">,
  outcome: TransportOutcome,
  attempts: number,
  at: number,
): EmailOutcome {
  const tried = email.recipients.map((recipient) => toRecipient(recipient, outcome))
  const isOpen = tried.some(({ status }) => status === "waiting")
  const ageMs = at - email.createdAt
  const retryMs = isOpen ? findRetryDelay(mailBackoff, { attempts, ageMs }) : undefined
  // An earlier attempt may have said why a recipient never gets it.
  const error =
    toErrorText(outcome) ?? (tried.some(({ status }) => status === "failed") ? email.error : null)
  if (retryMs !== undefined || !isOpen) return { recipients: tried, error, retryMs, at }
  const recipients = tried.map((recipient) =>
    recipient.status === "waiting" ? { ...recipient, status: "failed" as const } : recipient,
  )
  return { recipients, error: `${error ?? ""}; it was tried for a day`, retryMs, at }
}

function toRecipient(recipient: Recipient, outcome: TransportOutcome): Recipient {
  if (recipient.status !== "waiting") return recipient
  if (outcome.kind === "failed")
    return outcome.isPermanent ? { ...recipient, status: "failed" } : recipient
  const rejection = outcome.rejected.find(({ address }) => address === recipient.address)
  if (rejection && !rejection.isPermanent) return recipient
  return { ...recipient, status: rejection ? "failed" : "sent" }
}

function toErrorText(outcome: TransportOutcome): string | null {
  const text =
    outcome.kind === "failed"
      ? outcome.error
      : outcome.rejected.map(({ address, error }) => `${address}: ${error}`).join("; ")
  return text === "" ? null : text.slice(0, errorCharsMax).toWellFormed()
}

/** The status of an email after an attempt. It has failed if one recipient never gets it. */
export function toEmailStatus({ recipients, retryMs }: EmailOutcome): AttemptStatus {
  if (retryMs !== undefined) return "retried"
  return recipients.every(({ status }) => status === "sent") ? "sent" : "failed"
}
