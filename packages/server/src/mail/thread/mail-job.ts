import type { MailConnection, ReadMail } from "../../domain/mail/mail.ts"

/** A message for a thread to read. */
export interface MailJob {
  readonly raw: Uint8Array
  /** Undefined for a message that came over no connection: its sender is not checked. */
  readonly connection: MailConnection | undefined
  /** The name of this server. */
  readonly serverName: string
  /** Name servers; undefined for those of the machine. */
  readonly nameServers: readonly string[] | undefined
}

/** The message, or why no server should accept it. */
export type MailJobResult = { readonly mail: ReadMail } | { readonly problem: string }
