import {
  ConstraintError,
  type Database,
  type Dialect,
  firstRow,
  join,
  newestOf,
  raw,
  readPage,
  type Script,
  type Statement,
  sql,
} from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import type { EventType } from "../../domain/webhooks/events.ts"
import type {
  NewWebhook,
  SealedWebhook,
  Webhook,
  WebhookChange,
  WebhookStore,
} from "../../domain/webhooks/webhooks.ts"
import { writeOnce } from "../accounts/write-once.ts"
import { withCode } from "../vals/val-rows.ts"

const sealedColumns = raw("id, key_id as sealed__key_id, sealed as sealed__bytes")
const columns =
  raw(`w.id, w.owner_id, w.url, w.target_val_id as target_val__id, t.name as target_val__name, u.username as target_val__username,
  w.events as events_json, w.val_id, w.val_id as val__id, v.name as val__name, u.username as val__username, w.description, w.status, w.disabled_reason, w.failing_since, w.dropped_count as dropped_events,
  w.previous_until as previous_secret_until,
  w.created_at, w.updated_at`)
const joins = raw(`join users u on u.id = w.owner_id left join vals t on t.id = w.target_val_id
  left join vals v on v.id = w.val_id and v.owner_id = w.owner_id`)

/** Webhooks in the database. */
export function createWebhookStore(db: Database): WebhookStore {
  return {
    list: (ownerId, page) =>
      readPage<Webhook>(db, page, newestOf("w."))`
        select ${columns} from webhooks w ${joins} where w.owner_id = ${ownerId}`,
    find: (ownerId, id) => db.first<Webhook>(selectWebhook(ownerId, id)),
    create: (webhook, countMax) =>
      unlessValIsGone(writeOnce(db, () => createWebhook(db.dialect, webhook, countMax))),
    change: (ownerId, id, change, at) =>
      unlessValIsGone(db.write(() => changeWebhook(ownerId, id, change, at))),
    remove: (ownerId, id) => db.write(() => removeWebhook(ownerId, id)),
    rotate: (ownerId, id, rotate, at) =>
      writeOnce(db, () => rotateSecrets(db.dialect, ownerId, id, rotate, at)),
    listOtherKeys: (keyId, countMax) =>
      db.read`
        select ${sealedColumns} from webhooks where key_id < ${keyId} or key_id > ${keyId} limit ${countMax}`,
    reseal: (webhook, sealed) =>
      db.run`update webhooks set key_id = ${sealed.keyId}, sealed = ${sealed.bytes}
        where id = ${webhook.id} and sealed = ${webhook.sealed.bytes}`,
  }
}

function selectWebhook(ownerId: string, id: string): Statement {
  return sql`select ${columns} from webhooks w ${joins} where w.id = ${id} and w.owner_id = ${ownerId}`
}

function readWebhook(ownerId: string, id: string): Script<Webhook | undefined> {
  return firstRow<Webhook>(selectWebhook(ownerId, id))
}

/** The val that a webhook calls may be deleted at the same moment. */
async function unlessValIsGone<T>(written: Promise<T>): Promise<T | undefined> {
  try {
    return await written
  } catch (error) {
    if (error instanceof ConstraintError && error.kind === "foreign_key") return undefined
    throw error
  }
}

function* createWebhook(
  dialect: Dialect,
  webhook: NewWebhook,
  countMax: number,
): Script<Webhook | "full" | undefined> {
  const { id, ownerId, target, events, valId, description, sealed, at } = webhook
  // Locks the row of the user, so that concurrent new webhooks are counted one after the other.
  yield sql`select id from users where id = ${ownerId} ${dialect.forUpdate}`
  const last = yield* firstRow`
    select id from webhooks where owner_id = ${ownerId} order by created_at desc, id desc limit 1 offset ${countMax - 1}`
  if (last) return "full"
  yield sql`insert into webhooks (id, owner_id, url, target_val_id, target_file_id, events, has_run_events, val_id, description, status,
      key_id, sealed, created_at, updated_at)
    values (${id}, ${ownerId}, ${target.url}, ${target.targetValId}, ${selectCode(target.targetValId)}, ${toOwnJson(events)}, ${hasRunEvents(events)}, ${valId},
      ${description}, ${webhook.isPaused ? "paused" : "active"}, ${sealed.keyId}, ${sealed.bytes}, ${at}, ${at})`
  return yield* readWebhook(ownerId, id)
}

function* changeWebhook(
  ownerId: string,
  id: string,
  change: WebhookChange,
  at: number,
): Script<Webhook | undefined> {
  const { target, events, valId, description, isPaused } = change
  const set = [sql`updated_at = ${at}`]
  if (target)
    set.push(
      sql`url = ${target.url}, target_val_id = ${target.targetValId}, target_file_id = ${selectCode(target.targetValId)}`,
    )
  if (events) set.push(sql`events = ${toOwnJson(events)}, has_run_events = ${hasRunEvents(events)}`)
  if (valId !== undefined) set.push(sql`val_id = ${valId}`)
  if (description !== undefined) set.push(sql`description = ${description}`)
  if (isPaused) set.push(raw("status = 'paused'"))
  // The receiver gets a new chance: its earlier failures do not count.
  if (isPaused === false)
    set.push(raw("status = 'active', disabled_reason = null, failing_since = null"))
  yield sql`update webhooks set ${join(set, ", ")} where id = ${id} and owner_id = ${ownerId}`
  return yield* readWebhook(ownerId, id)
}

/** The file that is the code of a val now: a webhook goes on calling it when another becomes the code. */
function selectCode(valId: string | null): Statement {
  return valId === null
    ? sql`null`
    : sql`(select c.file_id from branches b join versions n on n.branch_id = b.id and n.version = b.version ${withCode}
      where b.id = ${valId})`
}

/** The number of deliveries is limited, so they can be deleted at once. */
function* removeWebhook(ownerId: string, id: string): Script<boolean> {
  const removed = yield* firstRow`
    delete from webhooks where id = ${id} and owner_id = ${ownerId} returning id`
  if (removed) yield sql`delete from webhook_deliveries where webhook_id = ${id}`
  return removed !== undefined
}

function* rotateSecrets(
  dialect: Dialect,
  ownerId: string,
  id: string,
  rotate: Parameters<WebhookStore["rotate"]>[2],
  at: number,
): Script<Webhook | undefined> {
  const row = yield* firstRow<SealedWebhook>`
    select ${sealedColumns} from webhooks where id = ${id} and owner_id = ${ownerId} ${dialect.forUpdate}`
  if (!row) return undefined
  const { sealed, previousUntil } = rotate(row.sealed)
  yield sql`update webhooks set key_id = ${sealed.keyId}, sealed = ${sealed.bytes}, previous_until = ${previousUntil},
    updated_at = ${at} where id = ${id}`
  return yield* readWebhook(ownerId, id)
}

function hasRunEvents(events: readonly EventType[]): number {
  return events.some((type) => type.startsWith("run.")) ? 1 : 0
}
