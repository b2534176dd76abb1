import { type Dialect, firstRow, type Statements, sql } from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import type { Notice } from "../../../domain/mail/outbound/emails.ts"
import { asAdded } from "../../claims/row-claims.ts"

/** The setting with the address of notices. It is absent while the server sends no mail. */
export const noticeSenderName = "mail_notice_sender"

const dayMs = 86_400_000

const limits = {
  perDay: 20,
}

/**
 * Part of a transaction: an email of the server to a user about what the transaction records. False
 * when it is not sent: the server sends no mail, the user has no confirmed address or is suspended,
 * or got too many notices today.
 */
export function* addNotice(
  dialect: Pick<Dialect, "now">,
  { id, userId, subject, text, at }: Notice,
): Statements<boolean> {
  const content = Buffer.from(toOwnJson({ from: null, to: null, subject, text }))
  // An address has no character that JSON escapes: the contract allows none.
  const added = yield* firstRow`
    insert into emails (id, account_id, kind, sender, recipients, recipient_count, subject, bytes, stored_bytes, status, next_attempt_at, created_at)
    select ${id}, u.id, 'notice', s.value, '[{"address":"' || u.email || '","status":"waiting"}]', 1, ${subject}, ${content.length}, ${content.length}, 'waiting', ${dialect.now}, ${at}
    from users u join settings s on s.name = ${noticeSenderName}
    where u.id = ${userId} and u.email is not null and u.email_verified_at is not null and u.suspended_at is null
      and (select count(*) from emails e where e.account_id = ${userId} and e.kind = 'notice' and e.created_at > ${at - dayMs}) < ${limits.perDay}
    returning id`
  if (!added) return false
  yield asAdded(
    "emails",
    sql`insert into email_contents (email_id, content) values (${id}, ${content})`,
  )
  return true
}
