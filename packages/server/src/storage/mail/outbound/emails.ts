import {
  type Database,
  type Dialect,
  firstRow,
  inBatches,
  list,
  newestOf,
  nothing,
  raw,
  readPage,
  rows,
  type Script,
  type Statement,
  type Statements,
  sql,
} from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import type { Claim } from "../../../domain/claims.ts"
import { toEmailStatus } from "../../../domain/mail/outbound/deliver-email.ts"
import type {
  Email,
  EmailAllowance,
  EmailCode,
  EmailOutcome,
  EmailRefusal,
  EmailStore,
  NewEmail,
  Resending,
} from "../../../domain/mail/outbound/emails.ts"
import { putEmailCode } from "../../accounts/email-codes.ts"
import { writeOnce } from "../../accounts/write-once.ts"
import { asAdded, type RowClaims } from "../../claims/row-claims.ts"
import { noticeSenderName } from "./add-notice.ts"

const dayMs = 86_400_000

/** Outgoing emails in the database. */
export function createEmailStore(
  db: Database,
  claims: Pick<RowClaims, "end" | "postpone">,
): EmailStore {
  return {
    add: (email, allowance, code) =>
      writeOnce(db, () => addEmail(db.dialect, email, allowance, code)),
    resend: (accountId, id, copy, allowance) =>
      writeOnce(db, () => resend(db.dialect, accountId, id, copy, allowance)),
    find: (accountId, id) =>
      db.first<Email>`
        select ${emailColumns} from emails e where e.id = ${id} and e.account_id = ${accountId}`,
    async findUsed(accountId, at) {
      const used = await db.first<UsedRow>(selectUsed(accountId, false, at))
      return { recipients: used?.count ?? 0, bytes: used?.bytes ?? 0 }
    },
    list(accountId, status, page) {
      const ofStatus = status === undefined ? nothing : sql`and e.status = ${status}`
      const select = sql`select ${emailColumns} from emails e where e.account_id = ${accountId} ${ofStatus}`
      return readPage<Email>(db, page, newestOf("e."))(select)
    },
    listOfRun: (accountId, runId, countMax) =>
      db.read`
        select ${emailColumns} from emails e where e.run_id = ${runId} and e.account_id = ${accountId}
        order by e.id limit ${countMax}`,
    async findToSend(id) {
      const row = await db.first<SentRow & { readonly suspendedAt: number | null }>`
        select ${emailColumns}, c.content, u.suspended_at
        from emails e left join email_contents c on c.email_id = e.id join users u on u.id = e.account_id
        where e.id = ${id} and e.next_attempt_at is not null`
      return row && { email: row, content: row.content, isSuspended: row.suspendedAt !== null }
    },
    record: (claim, outcome) => db.write(() => record(claims, claim, outcome)),
    async setNoticeSender(address) {
      const known = await db.first<{ value: string }>`
        select value from settings where name = ${noticeSenderName}`
      if ((known?.value ?? null) === address) return
      await db.write(function* () {
        yield address === null
          ? sql`delete from settings where name = ${noticeSenderName}`
          : sql`insert into settings (name, value) values (${noticeSenderName}, ${address}) on conflict (name) do update set value = excluded.value`
      })
    },
    purge: (endedBefore, failedBefore, countMax) =>
      db.write(() => purge(endedBefore, failedBefore, countMax)),
  }
}

/** The lock makes the emails of an account count one after the other. */
function* addEmail(
  dialect: Dialect,
  email: NewEmail,
  allowance: EmailAllowance,
  code?: EmailCode,
): Script<EmailRefusal | undefined> {
  const { id, accountId, kind, content, createdAt } = email
  yield* dialect.lockName(`emails of ${accountId}`)
  const cost = { recipients: email.recipients.length, bytes: content.length }
  const refusal = yield* check(accountId, kind === "confirmation", cost, createdAt, allowance)
  if (refusal) return refusal
  const recipients = email.recipients.map((address) => ({ address, status: "waiting" }))
  yield sql`
    insert into emails (id, account_id, kind, run_id, val_id, val_name, sender, recipients, recipient_count, subject, bytes, stored_bytes, status, next_attempt_at, created_at)
    values (${id}, ${accountId}, ${kind}, ${email.runId}, ${email.val?.id ?? null}, ${email.val?.name ?? null}, ${email.from}, ${toOwnJson(recipients)},
      ${cost.recipients}, ${email.subject}, ${cost.bytes}, ${cost.bytes}, 'waiting', ${dialect.now}, ${createdAt})`
  yield asAdded(
    "emails",
    sql`insert into email_contents (email_id, content) values (${id}, ${content})`,
  )
  if (code) yield putEmailCode(code)
  return undefined
}

interface UsedRow {
  readonly count: number | null
  readonly bytes: number | null
  readonly oldest: number | null
}

/** The server's own messages do not use up the allowance of a user, and confirmations have theirs. */
function selectUsed(accountId: string, isConfirmation: boolean, at: number): Statement {
  const kinds = raw(isConfirmation ? "kind = 'confirmation'" : "kind in ('val', 'api')")
  return sql`
    select sum(recipient_count) as count, sum(bytes) as bytes, min(created_at) as oldest from emails
    where account_id = ${accountId} and created_at > ${at - dayMs} and ${kinds}`
}

function* check(
  accountId: string,
  isConfirmation: boolean,
  cost: { readonly recipients: number; readonly bytes: number },
  at: number,
  { recipientsPerDay = Infinity, bytesPerDay = Infinity, storedBytesMax }: EmailAllowance,
): Statements<EmailRefusal | undefined> {
  const used = yield* firstRow<UsedRow>(selectUsed(accountId, isConfirmation, at))
  const isUsedUp =
    (used?.count ?? 0) + cost.recipients > recipientsPerDay ||
    (used?.bytes ?? 0) + cost.bytes > bytesPerDay
  if (isUsedUp) return { kind: "used_up", retryAfterMs: (used?.oldest ?? at) + dayMs - at }
  if ((yield* sumStored(accountId)) + cost.bytes <= storedBytesMax) return undefined
  // Waiting emails have precedence over failed ones, which are kept for another attempt only.
  const failed = yield* rows<{ id: string }>`
    select id from emails where account_id = ${accountId} and stored_bytes > 0 and status = 'failed'`
  yield* dropContents(failed.map(({ id }) => id))
  return (yield* sumStored(accountId)) + cost.bytes > storedBytesMax
    ? { kind: "no_room" }
    : undefined
}

function* sumStored(accountId: string): Statements<number> {
  const stored = yield* firstRow<{ bytes: number | null }>`
    select sum(stored_bytes) as bytes from emails where account_id = ${accountId} and stored_bytes > 0`
  return stored?.bytes ?? 0
}

function* dropContents(ids: readonly string[]): Statements<void> {
  for (const chunk of inBatches(ids)) {
    yield sql`delete from email_contents where email_id in (${list(chunk)})`
    yield sql`update emails set stored_bytes = 0 where id in (${list(chunk)})`
  }
}

function* resend(
  dialect: Dialect,
  accountId: string,
  id: string,
  copy: { readonly id: string; readonly at: number },
  allowance: EmailAllowance,
): Script<Resending> {
  const row = yield* firstRow<SentRow>`
    select ${emailColumns}, c.content from emails e left join email_contents c on c.email_id = e.id
    where e.id = ${id} and e.account_id = ${accountId}`
  if (!row) return { kind: "not_found" }
  const { recipients, ...email } = row
  const isOwn = email.kind === "val" || email.kind === "api"
  if (email.status !== "failed" || row.content === null || !isOwn) return { kind: "not_failed" }
  const failed = recipients.flatMap(({ address, status }) => (status === "sent" ? [] : [address]))
  const refusal = yield* addEmail(
    dialect,
    { ...email, id: copy.id, recipients: failed, content: row.content, createdAt: copy.at },
    allowance,
  )
  return refusal ?? { kind: "resent" }
}

/** The content of an email that was sent is not needed any more. */
function* record(
  claims: Pick<RowClaims, "end" | "postpone">,
  claim: Claim,
  outcome: EmailOutcome,
): Script<boolean> {
  const { recipients, error, retryMs, at } = outcome
  const status = toEmailStatus(outcome)
  const set = sql`recipients = ${toOwnJson(recipients)}, error = ${error}`
  if (retryMs !== undefined) return yield* claims.postpone(claim, retryMs, set)
  const isRecorded = yield* claims.end(claim, sql`${set}, status = ${status}, ended_at = ${at}`)
  if (isRecorded && status === "sent") yield* dropContents([claim.id])
  return isRecorded
}

function* purge(endedBefore: number, failedBefore: number, countMax: number): Script<boolean> {
  const old = yield* rows<{ id: string }>`
    select id from emails where ended_at is not null and ended_at < ${endedBefore} limit ${countMax}`
  for (const chunk of inBatches(old.map(({ id }) => id)))
    yield sql`delete from emails where id in (${list(chunk)})`
  const failed = yield* rows<{ id: string }>`
    select id from emails where stored_bytes > 0 and ended_at < ${failedBefore} limit ${countMax}`
  yield* dropContents(failed.map(({ id }) => id))
  return old.length === countMax || failed.length === countMax
}

/** The columns of an email; `e` is its row. */
const emailColumns = raw(
  "e.id, e.account_id, e.kind, e.run_id, e.val_id as val__id, coalesce(e.val_name, '') as val__name, e.sender as \"from\", e.recipients as recipients_json, e.subject, e.bytes, e.status, e.attempts, e.error, e.created_at, e.next_attempt_at, e.ended_at",
)

type SentRow = Email & { readonly content: Uint8Array | null }
