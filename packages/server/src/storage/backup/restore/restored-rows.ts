import type { Recipient } from "../../../domain/emails/emails.ts"
import type { SqlValue } from "../../database/sql.ts"

type Row = readonly SqlValue[]

/** Why an email that waited is not sent by the restored server. */
const restoredEmailError =
  "it waited when the backup was made, so the original server may have sent it meanwhile"

/**
 * How the rows of a table change when they are restored; undefined if they do not. Two servers must
 * not send the same email: the one that was restored sends none that waited, unless its user asks
 * for it.
 */
export function createRowChange(
  table: string,
  columns: readonly string[],
  at: number,
): ((row: Row) => Row) | undefined {
  if (table !== "emails") return undefined
  const indexOf = (column: string) => columns.indexOf(column)
  return (row) => {
    const recipients = row[indexOf("recipients")]
    if (row[indexOf("status")] !== "waiting" || typeof recipients !== "string") return row
    return row
      .with(indexOf("status"), "failed")
      .with(indexOf("recipients"), JSON.stringify(toFailed(recipients)))
      .with(indexOf("error"), restoredEmailError)
      .with(indexOf("next_attempt_at"), null)
      .with(indexOf("ended_at"), at)
  }
}

/** Those who had got it already keep their status. */
function toFailed(recipients: string): unknown {
  const parsed: unknown = JSON.parse(recipients)
  if (!Array.isArray(parsed)) return parsed
  return (parsed as readonly Recipient[]).map((recipient) =>
    recipient.status === "waiting" ? { ...recipient, status: "failed" } : recipient,
  )
}
