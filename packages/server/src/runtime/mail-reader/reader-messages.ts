import type { MailConnection, ReadMail } from "../../domain/mail/inbound/mail.ts"
import { parseJson, toOwnJson } from "../../shared/hostile-input/bounded.ts"
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

const lengthBytes = 4
/** The header of a mail and what name servers say about its sender are far shorter. */
const jsonCharsMax = 1_000_000

/** The parts of a frame with a message and bytes that belong to it. */
export function toParts(
  message: ReaderRequest | ReaderResponse,
  bytes: readonly Uint8Array[],
): readonly Uint8Array[] {
  const json = Buffer.from(toOwnJson(message))
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32LE(json.length)
  return [length, json, ...bytes]
}

/** The message and the bytes in a frame. */
export function fromFrame<Message extends ReaderRequest | ReaderResponse>(
  frame: Buffer,
): { readonly message: Message; readonly bytes: Buffer } {
  const end = lengthBytes + frame.readUInt32LE(0)
  return {
    message: parseJson(frame.toString("utf8", lengthBytes, end), jsonCharsMax) as Message,
    bytes: frame.subarray(end),
  }
}
