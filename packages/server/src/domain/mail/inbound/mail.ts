import type { runEmail } from "@hamlet/contract"
import type { z } from "zod"

/** The mail that started a run, as the run shows it. */
export type RunEmail = z.infer<typeof runEmail>

/** What every part that handles messages relies on. */
export const mailLimits = {
  /** Lines of a message; 25 MB of base64 in the usual lines are 340,000. */
  linesMax: 500_000,
}

/** What SPF, DKIM and DMARC say about the sender. */
export type MailAuth = RunEmail["auth"]

/**
 * The results of checks that do not apply. In this file, which a process that reads messages loads
 * anyway: beside the mailbox, it would load the contract with all of its schemas too.
 */
export const noMailAuth: MailAuth = {
  spf: "none",
  dkim: "none",
  dmarc: "none",
  isFromVerified: false,
}

/** A message that was read: what the rules need of it, and what the val gets. */
export interface ReadMail {
  /** The only address in the `From` header, in lower case. */
  readonly fromAddress: string
  /** The message for the record of the run; `to` is the recipient's. */
  readonly email: Omit<RunEmail, "to" | "isTest">
  /** The argument for the record of the run: without files, and long texts are truncated. */
  readonly recorded: unknown
  /**
   * The argument itself, in the format in which the guest reads it (see its protocol). What each
   * recipient has of its own is added when the run starts.
   */
  readonly content: Uint8Array
  /**
   * Identifies the message when it is delivered again, whatever way it takes. Undefined if nothing
   * in the message tells it apart from another one with the same text.
   */
  readonly fingerprint: string | undefined
  /** Set if the sender is verified by a DKIM signature only, not by the connection. */
  readonly signature: MailSignature | undefined
  readonly loop: MailLoop
}

/**
 * What a DKIM signature says. Every recipient of a message has a copy of it with a valid signature,
 * and can send that to any address, at any time.
 */
export interface MailSignature {
  /** The addresses in the signed `To` and `Cc` headers, in lower case. */
  readonly recipients: readonly string[]
  /** The signed date of the message, or when it was signed, in milliseconds. */
  readonly at: number | undefined
}

/** The connection over which a message came. */
export interface MailConnection {
  readonly address: string
  /** The name with which the client introduced itself. */
  readonly helo: string
  /** The address of `MAIL FROM`; empty for the null sender. */
  readonly mailFrom: string
}

/** Reads messages in other processes: a hostile message may take long, and much memory. */
export interface MailReader {
  /**
   * Reads a message, which comes in pieces, and checks its sender. One that came over no connection
   * has no sender to check, and its lines may end as those of a file. Owners, who are clients of the
   * mail server or users, take turns. Rejects with MailRefused, or with `overloaded`.
   */
  read(raw: readonly Uint8Array[], owner: string, connection?: MailConnection): Promise<ReadMail>
}

/** What tells that a program has sent the message. */
export interface MailLoop {
  /** The value of `Auto-Submitted`, in lower case and without parameters. */
  readonly autoSubmitted: string | undefined
  readonly messageId: string | undefined
  /** How many servers have passed it on. */
  readonly hops: number
}

/** Why a message is refused. The mail server has a reply for each. */
export type MailRefusalReason =
  | "invalid_message"
  /** The message took too long to read, which may be the fault of this server. */
  | "timed_out"
  | "unknown_recipient"
  | "suspended"
  | "sender_undecided"
  | "loop"
  | "account_limit"
  | "mailbox_full"

/** A message is refused. The sender reads the message of the error. */
export class MailRefused extends Error {
  constructor(
    readonly reason: MailRefusalReason,
    message: string,
  ) {
    super(message)
  }
}
