import { type Database, firstRow, inBatches, list, rows, type Script, sql } from "@hamlet/database"
import { removeLike } from "../likes/likes.ts"
import { removeContents } from "../mail/inbound/mails.ts"
import { writeLinks } from "../references/row-locks.ts"
import { deleteRuns } from "../runs/purge-runs.ts"
import { deleteValRow } from "../vals/vals.ts"

/** Few, because deleting a val takes longer than deleting a row. */
const valsMax = 10

/**
 * Deletes a part of the data of an account that is to be purged, and finally the user. False when
 * nothing is left.
 */
export async function purgeAccount(
  db: Database,
  id: string,
  at: number,
  countMax: number,
): Promise<boolean> {
  // First, so that nothing is sent about the vals that are deleted next.
  if (await db.write(() => purgeWebhooks(id, countMax))) return true
  const vals = await db.read<{ id: string }>`
    select id from vals where owner_id = ${id} limit ${valsMax}`
  // One at a time, as their owner would: reference counts are updated, and their runs are deleted in
  // the background.
  for (const val of vals)
    await writeLinks(db, val.id, () =>
      deleteValRow(db.dialect, val.id, () => {}, { depth: 0, actorId: null }),
    )
  if (vals.length > 0) return true
  const likes = await db.read<{ valId: string }>`
    select val_id from likes where user_id = ${id} limit ${valsMax}`
  for (const like of likes) {
    const { valId } = like
    await db.write(() => removeLike(db.dialect, id, valId), { inTurnOf: valId })
  }
  if (likes.length > 0) return true
  return db.write(() => purgeRows(id, at, countMax))
}

function* purgeWebhooks(id: string, countMax: number): Script<boolean> {
  yield sql`delete from webhooks where owner_id = ${id}`
  const deliveries = yield* rows<{ id: string }>`
    select id from webhook_deliveries where owner_id = ${id} limit ${countMax}`
  for (const chunk of inBatches(deliveries.map((delivery) => delivery.id)))
    yield sql`delete from webhook_deliveries where id in (${list(chunk)})`
  return deliveries.length > 0
}

function* purgeRows(id: string, at: number, countMax: number): Script<boolean> {
  const blobs = yield* rows<{ key: string; objectId: string | null }>`
    select key, object_id from blobs where owner_id = ${id} limit ${countMax}`
  for (const chunk of inBatches(blobs.map(({ key }) => key)))
    yield sql`delete from blobs where owner_id = ${id} and key in (${list(chunk)})`
  const objects = blobs.flatMap(({ objectId }) => (objectId === null ? [] : [objectId]))
  for (const chunk of inBatches(objects))
    yield sql`update objects set unused_since = ${at} where id in (${list(chunk)})`
  if (blobs.length > 0) return true
  const mails = yield* rows<{ runId: string; objectId: string | null }>`
    select run_id, object_id from mail_contents where owner_id = ${id} limit ${countMax}`
  yield* removeContents(mails, at)
  if (mails.length > 0) return true
  const runs = yield* rows<{ id: string }>`
    select id from runs where account_id = ${id} limit ${countMax}`
  yield* deleteRuns(runs)
  if (runs.length > 0) return true
  const comments = yield* rows<{ id: string }>`
    select id from comments where author_id = ${id} limit ${countMax}`
  for (const chunk of inBatches(comments.map((comment) => comment.id)))
    yield sql`delete from comments where id in (${list(chunk)})`
  if (comments.length > 0) return true
  const emails = yield* rows<{ id: string }>`
    select id from emails where account_id = ${id} limit ${countMax}`
  for (const chunk of inBatches(emails.map((email) => email.id)))
    yield sql`delete from emails where id in (${list(chunk)})`
  if (emails.length > 0) return true
  // Tokens, secrets and idempotency keys are deleted with the row. A purge that was cancelled ends
  // here.
  yield* firstRow`delete from users where id = ${id} and purge_at is not null returning id`
  return false
}
