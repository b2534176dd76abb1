import { toValNameKey } from "@hamlet/contract"
import {
  type Database,
  type Dialect,
  firstId,
  firstRow,
  inBatches,
  list,
  raw,
  rows,
  type Script,
  type Statement,
  type Statements,
  sql,
} from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import type { ObjectPlace } from "../../../domain/blobs/objects.ts"
import { MailRefused } from "../../../domain/mail/inbound/mail.ts"
import type { MailTarget } from "../../../domain/mail/inbound/mail-address.ts"
import type { MailVal } from "../../../domain/mail/inbound/mail-rules.ts"
import type {
  MailboxLimits,
  MailCandidate,
  MailStore,
  NewMail,
  StoredMail,
} from "../../../domain/mail/inbound/receive-mail.ts"
import { writeOnce } from "../../accounts/write-once.ts"
import { enqueueRuns } from "../../queue/enqueue-runs.ts"
import { valFileTables, withCode } from "../../vals/val-rows.ts"

const limits = {
  /** How long a message is known, so that a second delivery of it is dropped. */
  keyMs: 86_400_000,
  /** Content that is larger is deleted as soon as its run has ended. */
  keptBytesMax: 65_536,
  /** Rows that one batch of a purge looks at. */
  batchMax: 500,
}

/** Received mail in the database. */
export function createMailStore(db: Database): MailStore {
  return {
    async findVal(target) {
      const [file] = target.kind === "id" ? await db.read<MailVal>(selectFile(target.id)) : []
      // The id of a val means the file that has its addresses, even where another file has that id.
      if (file && target.kind === "id" && file.id !== target.id) return toMailVal(file)
      const addressed = await db.first<{ id: string | null }>(selectAddressed(toCondition(target)))
      if (!addressed?.id) return undefined
      const row = await db.first<MailVal>(selectFile(addressed.id))
      return row && toMailVal(row)
    },
    findNew: (mails, mailbox) => findNew(db, mails, mailbox),
    add: (mails, mailbox, assert) =>
      writeOnce(db, () => addMails(db.dialect, mails, mailbox, assert)),
    async assertRoom(ownerId, mailbox) {
      const used = await db.first<UsedRow>(selectUsed(ownerId))
      assertRoomFor(used, [{ bytes: 1 }], mailbox)
    },
    async findContent(runId) {
      const row = await db.first<ContentRow>`
        select m.email as email_json, c.bytes, c.content, c.object_id, o.place from mail_contents c
        join incoming_mails m on m.run_id = c.run_id left join objects o on o.id = c.object_id where c.run_id = ${runId}`
      return row && toStoredMail(row)
    },
    purge: (after, endedBefore, at) => db.write(() => purgeContents(after, endedBefore, at)),
    purgeKeys: (before) => db.write(() => purgeKeys(before)),
  }
}

const columns = raw(
  `v.id, c.file_id as file__id, b.id as file__branch_id, v.owner_id, v.privacy, u.suspended_at is not null as is_owner_suspended,
  case when u.email_verified_at is not null then u.email end as owner_address`,
)

/** The file to which the mail address of a val leads: the entry file, unless a file had it first. */
function selectAddressed(condition: Statement): Statement {
  return sql`
    select coalesce(v.mail_file_id, c.file_id) as id from vals v join users u on u.id = v.owner_id join branches b on b.id = v.id
    join versions n on n.branch_id = b.id and n.version = b.version ${withCode} where ${condition}`
}

/** A file, if its type is `email`. */
function selectFile(fileId: string): Statement {
  return sql`select ${columns} from ${valFileTables} where c.type = 'email' and f.id = ${fileId}`
}

function toCondition(target: MailTarget): Statement {
  if (target.kind === "id") return sql`v.id = ${target.id}`
  const { username, name } = target
  return sql`u.username_key = ${username.toLowerCase()} and v.name_key = ${toValNameKey(name)}`
}

/** The databases disagree on the lower case of letters that are not of ASCII. */
function toMailVal(val: MailVal): MailVal {
  return { ...val, ownerAddress: val.ownerAddress?.toLowerCase() ?? null }
}

function* addMails(
  dialect: Dialect,
  mails: readonly NewMail[],
  mailbox: MailboxLimits,
  assert: (mail: NewMail, val: MailVal | undefined) => void,
): Script<readonly string[]> {
  const runIds: string[] = []
  for (const mail of mails) {
    const val = yield* firstRow<MailVal>(selectFile(mail.val.file.id))
    assert(mail, val && toMailVal(val))
    if (mail.key !== undefined && !(yield* isFirst(mail.key, mail.at))) continue
    assertRoomFor(yield* firstRow<UsedRow>(selectUsed(mail.val.ownerId)), [mail], mailbox)
    yield* enqueueRuns(dialect, [
      {
        id: mail.runId,
        valId: mail.val.id,
        file: mail.val.file,
        version: "current",
        accountId: mail.val.ownerId,
        source: "email",
        args: [mail.recorded],
        input: { kind: "email", messageId: mail.runId },
      },
    ])
    yield* insertMail(mail)
    runIds.push(mail.runId)
  }
  return runIds
}

/**
 * Whether the message comes for the first time in a day. Two deliveries at the same time wait here
 * for each other.
 */
function* isFirst(key: string, at: number): Statements<boolean> {
  const added = yield* firstRow`
    insert into mail_keys (key, received_at) values (${key}, ${at})
    on conflict (key) do update set received_at = excluded.received_at where mail_keys.received_at < ${at - limits.keyMs}
    returning key`
  return added !== undefined
}

async function findNew<Mail extends MailCandidate>(
  db: Database,
  mails: readonly Mail[],
  mailbox: MailboxLimits,
): Promise<readonly Mail[]> {
  const found: Mail[] = []
  for (const mail of mails) {
    const { key, at } = mail
    const earlier =
      key === undefined
        ? []
        : await db.read`
          select key from mail_keys where key = ${key} and received_at >= ${at - limits.keyMs}`
    if (earlier.length === 0) found.push(mail)
  }
  for (const [ownerId, ofOwner] of Map.groupBy(found, ({ val }) => val.ownerId)) {
    const used = await db.first<UsedRow>(selectUsed(ownerId))
    assertRoomFor(used, ofOwner, mailbox)
  }
  return found
}

interface UsedRow {
  readonly messages: number
  readonly bytes: number
}

function selectUsed(ownerId: string): Statement {
  return sql`
    select count(*) as messages, coalesce(sum(bytes), 0) as bytes from mail_contents where owner_id = ${ownerId}`
}

function assertRoomFor(
  used: UsedRow | undefined,
  mails: readonly Pick<MailCandidate, "bytes">[],
  { messagesMax, bytesMax }: MailboxLimits,
): void {
  const bytes = mails.reduce((sum, mail) => sum + mail.bytes, used?.bytes ?? 0)
  if ((used?.messages ?? 0) + mails.length > messagesMax || bytes > bytesMax)
    throw new MailRefused("mailbox_full", "the recipient has too much mail; try again later")
}

function* insertMail(mail: NewMail): Statements<void> {
  const { runId, val, content, bytes } = mail
  const object = content instanceof Uint8Array ? null : content
  if (object) {
    const used = yield* firstRow`
      update objects set unused_since = null, size = ${object.size} where id = ${object.id} and unused_since is not null returning id`
    if (!used) throw new MailRefused("mailbox_full", "the message took too long; try again later")
  }
  yield sql`insert into incoming_mails (run_id, email) values (${runId}, ${toOwnJson(mail.email)})`
  yield sql`insert into mail_contents (run_id, owner_id, bytes, content, object_id)
    values (${runId}, ${val.ownerId}, ${bytes}, ${object ? null : (content as Uint8Array)}, ${object?.id ?? null})`
}

interface ContentRow {
  readonly email: { readonly to: string }
  readonly bytes: number
  readonly content: Uint8Array | null
  readonly objectId: string | null
  readonly place: ObjectPlace | null
}

function toStoredMail({ email, bytes, content, objectId: id, place }: ContentRow): StoredMail {
  return {
    to: email.to,
    content: id !== null && place !== null ? { id, place } : (content ?? new Uint8Array()),
    bytes,
  }
}

interface PurgeRow {
  readonly runId: string
  readonly objectId: string | null
  readonly isUnused: boolean
}

/** Content is kept until its run has ended, and a while longer, for a replay, if it is small. */
function* purgeContents(
  after: string,
  endedBefore: number,
  at: number,
): Script<string | undefined> {
  const seen = yield* rows<PurgeRow>`
    select c.run_id, c.object_id, case
      when r.id is null or (r.ended_at is not null and (c.bytes > ${limits.keptBytesMax} or r.ended_at < ${endedBefore})) then 1
      else 0 end as is_unused
    from (select run_id, object_id, bytes from mail_contents where run_id > ${after || firstId} order by run_id limit ${limits.batchMax}) c
    left join runs r on r.id = c.run_id order by c.run_id`
  const unused = seen.filter(({ isUnused }) => isUnused)
  yield* removeContents(unused, at)
  return seen.length === limits.batchMax ? seen.at(-1)?.runId : undefined
}

/** Deletes the content of messages. Objects are deleted in the background. */
export function* removeContents(
  contents: readonly Pick<PurgeRow, "runId" | "objectId">[],
  at: number,
): Statements<void> {
  for (const chunk of inBatches(contents.map(({ runId }) => runId)))
    yield sql`delete from mail_contents where run_id in (${list(chunk)})`
  const objects = contents.flatMap(({ objectId }) => (objectId === null ? [] : [objectId]))
  for (const chunk of inBatches(objects))
    yield sql`update objects set unused_since = ${at} where id in (${list(chunk)})`
}

function* purgeKeys(before: number): Script<boolean> {
  const old = yield* rows<{ key: string }>`
    select key from mail_keys where received_at < ${before} order by received_at limit ${limits.batchMax}`
  for (const chunk of inBatches(old.map(({ key }) => key)))
    yield sql`delete from mail_keys where key in (${list(chunk)})`
  return old.length === limits.batchMax
}
