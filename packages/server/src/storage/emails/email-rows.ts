import type { Email, EmailKind, EmailStatus, Recipient } from "../../domain/emails/emails.ts"
import { raw } from "../database/sql.ts"
import { toTime } from "../vals/val-rows.ts"

/** A row of the table, without the columns that only the outbox uses. */
export interface EmailRow {
  readonly id: string
  readonly account_id: string
  readonly kind: EmailKind
  readonly run_id: string | null
  readonly val_id: string | null
  readonly val_name: string | null
  readonly sender: string
  readonly recipients: string
  readonly subject: string
  readonly bytes: number
  readonly status: EmailStatus
  readonly attempts: number
  readonly error: string | null
  readonly created_at: number | string
  readonly next_attempt_at: number | string | null
  readonly ended_at: number | string | null
}

/** The columns of an EmailRow; `e` is the email. */
export const emailColumns = raw(
  "e.id, e.account_id, e.kind, e.run_id, e.val_id, e.val_name, e.sender, e.recipients, e.subject, e.bytes, e.status, e.attempts, e.error, e.created_at, e.next_attempt_at, e.ended_at",
)

/** Converts a row to an email of the domain. */
export function toEmail(row: EmailRow): Email {
  const { val_id: valId, val_name: valName } = row
  return {
    id: row.id,
    accountId: row.account_id,
    kind: row.kind,
    runId: row.run_id,
    val: valId === null ? null : { id: valId, name: valName ?? "" },
    from: row.sender,
    // We wrote it.
    recipients: JSON.parse(row.recipients) as readonly Recipient[],
    subject: row.subject,
    bytes: row.bytes,
    status: row.status,
    attempts: row.attempts,
    error: row.error,
    createdAt: Number(row.created_at),
    nextAttemptAt: toTime(row.next_attempt_at),
    endedAt: toTime(row.ended_at),
  }
}
