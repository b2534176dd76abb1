import { AppError } from "../../domain/app-error.ts"
import { type MailRefusalReason, MailRefused } from "../../domain/mail/inbound/mail.ts"

/** A reply that refuses a command. 4xx means that the client should try again later. */
export class SmtpReply extends Error {
  constructor(
    readonly responseCode: number,
    /** Begins with the enhanced status code. */
    message: string,
  ) {
    super(message)
  }
}

const replies: Readonly<Record<MailRefusalReason, readonly [code: number, enhanced: string]>> = {
  unknown_recipient: [550, "5.1.1"],
  suspended: [450, "4.2.1"],
  sender_undecided: [451, "4.7.5"],
  invalid_message: [554, "5.6.0"],
  timed_out: [451, "4.3.0"],
  loop: [554, "5.4.6"],
  account_limit: [452, "4.7.28"],
  mailbox_full: [452, "4.2.2"],
}

/**
 * The reply for an error. A server that is in trouble says so, and the client keeps the message:
 * only an explicit refusal is for good.
 */
export function toReply(error: unknown): SmtpReply {
  if (error instanceof SmtpReply) return error
  if (error instanceof MailRefused) {
    const [code, enhanced] = replies[error.reason]
    return new SmtpReply(code, `${enhanced} ${toSentence(error.message)}`)
  }
  if (error instanceof AppError && error.code === "overloaded")
    return new SmtpReply(451, "4.3.2 The server is busy; try again later")
  return new SmtpReply(451, "4.3.0 The message cannot be stored now; try again later")
}

/** Whether the error is one that senders cause, and no operator has to know. */
export function isExpected(error: unknown): boolean {
  return error instanceof SmtpReply || error instanceof MailRefused
}

function toSentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
