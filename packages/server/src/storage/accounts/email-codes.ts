import {
  type Database,
  type Dialect,
  firstRow,
  type Script,
  type Statement,
  sql,
} from "@hamlet/database"
import type { EmailCodeStore } from "../../domain/accounts/email-address.ts"
import type { EmailCode } from "../../domain/mail/outbound/emails.ts"

interface CodeRow {
  readonly hash: Uint8Array
  readonly attempts: number
  readonly isForAddress: boolean
}

/** Codes that confirm addresses, in the database. */
export function createEmailCodeStore(db: Database): EmailCodeStore {
  return {
    confirm: (userId, hash, at, attemptsMax) =>
      db.write(() => confirm(db.dialect, userId, hash, at, attemptsMax)),
  }
}

/** Replaces the previous code. Part of the transaction that stores the message with the code. */
export function putEmailCode({ userId, email, hash, expiresAt }: EmailCode): Statement {
  return sql`
    insert into email_codes (user_id, email, hash, expires_at) values (${userId}, ${email}, ${hash}, ${expiresAt})
    on conflict (user_id) do update set email = excluded.email, hash = excluded.hash, attempts = 0, expires_at = excluded.expires_at`
}

/** The row lock makes attempts count one after the other. */
function* confirm(
  dialect: Dialect,
  userId: string,
  hash: Uint8Array,
  at: number,
  attemptsMax: number,
): Script<boolean> {
  const code = yield* firstRow<CodeRow>`
    select c.hash, c.attempts, case when u.email = c.email then 1 else 0 end as is_for_address
    from email_codes c join users u on u.id = c.user_id
    where c.user_id = ${userId} and c.expires_at > ${at} ${dialect.forUpdate}`
  if (!code || code.attempts >= attemptsMax) return false
  if (!code.isForAddress || !Buffer.from(code.hash).equals(hash)) {
    yield sql`update email_codes set attempts = attempts + 1 where user_id = ${userId}`
    return false
  }
  yield sql`delete from email_codes where user_id = ${userId}`
  yield sql`update users set email_verified_at = ${at} where id = ${userId}`
  return true
}
