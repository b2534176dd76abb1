import type { MailConnection, ReadMail } from "../../domain/mail/inbound/mail.ts"
import type { SenderFindings, SenderNames } from "./sender-records.ts"

/** What the server sends to a reader process, in front of the bytes of a message. */
export type ReaderRequest =
  /** The bytes are those of its header. */
  | { readonly task: "find_sender"; readonly mailFrom: string }
  | { readonly task: "read"; readonly origin: MailOrigin | undefined }

/** How a message came, and what name servers say about its sender. */
export interface MailOrigin {
  readonly connection: MailConnection
  readonly findings: SenderFindings
}

/** What a reader process sends back, in front of the content of the mail. */
export type ReaderResponse =
  | { readonly kind: "sender"; readonly names: SenderNames }
  | { readonly kind: "mail"; readonly mail: Omit<ReadMail, "content"> }
  /** No server should accept the message. */
  | { readonly kind: "refused"; readonly problem: string }
