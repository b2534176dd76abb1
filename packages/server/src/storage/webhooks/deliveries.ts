import {
  type Database,
  firstRow,
  inBatches,
  list,
  newestFirst,
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
import type { Claim } from "../../domain/claims.ts"
import type {
  Delivery,
  DeliveryDetail,
  DeliveryStore,
  DueDelivery,
  RecordedAttempt,
  WebhookRun,
} from "../../domain/webhooks/deliveries.ts"
import { writeOnce } from "../accounts/write-once.ts"
import type { RowClaims } from "../claims/row-claims.ts"
import { countRoom } from "../events/emit-events.ts"
import { enqueueRuns } from "../queue/enqueue-runs.ts"
import { toJson } from "../runs/run-rows.ts"

const limits = {
  /** A webhook whose attempts have all failed for this long is disabled. */
  failingMsMax: 5 * 24 * 60 * 60 * 1000,
}

/** Deliveries in the database. */
export function createDeliveryStore(db: Database, claims: RowClaims): DeliveryStore {
  const scripts = createScripts(db, claims)
  return {
    list: (ownerId, webhookId, status, page) =>
      readPage<Delivery>(db, page, newestFirst)`
        select ${deliveryColumns} from webhook_deliveries
        where webhook_id = ${webhookId} and owner_id = ${ownerId} ${status === undefined ? nothing : sql`and status = ${status}`}`,
    find: (ownerId, webhookId, id) =>
      db.first<DeliveryDetail>`
        select ${deliveryColumns}, ${messageColumns}, request as request_json, response as response_json from webhook_deliveries d
        where id = ${id} and webhook_id = ${webhookId} and owner_id = ${ownerId}`,
    addTest: (ownerId, webhookId, id) =>
      writeOnce(db, () => scripts.addTest(ownerId, webhookId, id)),
    retry: (ownerId, webhookId, id) => writeOnce(db, () => scripts.retry(ownerId, webhookId, id)),
    findDue: (id) =>
      db.first<DueDelivery>`
        select ${messageColumns}, d.depth, d.is_manual, d.tried_since, ${db.dialect.now} as now,
          case when u.suspended_at is null then 0 else 1 end as is_owner_suspended,
          d.webhook_id as webhook__id, w.owner_id as webhook__owner_id, w.status as webhook__status,
          w.url as webhook___url, w.target_val_id as webhook___target_val_id, w.target_file_id as webhook___target_file_id, w.key_id as webhook__sealed__key_id, w.sealed as webhook__sealed__bytes
        from webhook_deliveries d join webhooks w on w.id = d.webhook_id join users u on u.id = w.owner_id where d.id = ${id}`,
    drop: (claim) =>
      db.run`delete from webhook_deliveries where id = ${claim.id}
        and not exists (select 1 from webhooks where webhooks.id = webhook_deliveries.webhook_id)`,
    record: (claim, webhookId, attempt) =>
      db.write(() => scripts.record(claim, webhookId, attempt)),
    startRun: (claim, run, attempt) => db.write(() => scripts.startRun(claim, run, attempt)),
    purgeOlder: (keptMs, countMax) =>
      db.write(() =>
        purge(
          sql`select id from webhook_deliveries where ended_at is not null
          and ended_at < ${db.dialect.now} - ${keptMs} order by ended_at limit ${countMax}`,
          countMax,
        ),
      ),
    purgeBeyond: (webhookId, keptMax, countMax) =>
      db.write(() =>
        purge(
          sql`select id from (select id, ended_at from webhook_deliveries where webhook_id = ${webhookId}
            order by created_at desc, id desc limit ${countMax} offset ${keptMax}) beyond where ended_at is not null`,
          countMax,
        ),
      ),
  }
}

/** The transactions. */
function createScripts(db: Database, claims: RowClaims) {
  const { now } = db.dialect

  function* read(id: string): Script<Delivery | undefined> {
    return yield* firstRow<Delivery>`
      select ${deliveryColumns} from webhook_deliveries where id = ${id}`
  }

  /** Failures count from the first one on, until an attempt succeeds. */
  function* noteFailure(webhookId: string): Statements<number> {
    const failing = yield* firstRow<{ ms: number }>`
      update webhooks set failing_since = coalesce(failing_since, ${now}) where id = ${webhookId}
      returning ${now} - failing_since as ms`
    return failing?.ms ?? 0
  }

  /** What waits for a disabled webhook has failed. */
  function* disable(webhookId: string, reason: string): Statements<void> {
    yield sql`update webhooks set status = 'disabled', disabled_reason = ${reason}
      where id = ${webhookId} and status = 'active'`
    yield sql`update webhook_deliveries set status = 'failed', next_attempt_at = null, node_id = null, ended_at = ${now},
      error = 'The webhook was disabled' where webhook_id = ${webhookId} and next_attempt_at is not null`
  }

  return {
    *addTest(
      ownerId: string,
      webhookId: string,
      id: string,
    ): Script<Delivery | "full" | undefined> {
      const webhook = yield* firstRow`
        select id from webhooks where id = ${webhookId} and owner_id = ${ownerId}`
      if (!webhook) return undefined
      if ((yield* countRoom(webhookId)) <= 0) return "full"
      const data = toOwnJson({ message: "This is a test", webhookId })
      yield sql`insert into webhook_deliveries (id, webhook_id, owner_id, type, event_key, at, depth, data, is_manual, status,
          next_attempt_at, tried_since, created_at)
        values (${id}, ${webhookId}, ${ownerId}, 'webhook.test', ${`webhook.test/${id}`}, ${now}, 1, ${data}, 1, 'waiting',
          ${now}, ${now}, ${now})`
      return yield* read(id)
    },
    /** The delivery leaves its lane: others have been sent since. A claim in progress ends. */
    *retry(ownerId: string, webhookId: string, id: string): Script<Delivery | undefined> {
      const found = yield* firstRow`
        update webhook_deliveries set status = 'waiting', is_manual = 1, lane = null, next_attempt_at = ${now},
          tried_since = ${now}, attempts_before = attempts_before + attempts, attempts = 0, node_id = null,
          ended_at = null, run_id = null
        where id = ${id} and webhook_id = ${webhookId} and owner_id = ${ownerId} returning id`
      return found === undefined ? undefined : yield* read(id)
    },
    *record(claim: Claim, webhookId: string, attempt: RecordedAttempt): Script<void> {
      const { isTried, isGone, delayMs } = attempt
      const isDelivered = attempt.error === null
      const set = toColumns(attempt)
      const ended = sql`status = ${isDelivered ? "delivered" : "failed"}, ended_at = ${now}, ${set}`
      const isRecorded = yield* delayMs === undefined
        ? claims.end(claim, ended)
        : claims.postpone(claim, delayMs, set)
      if (!isRecorded || !isTried) return
      if (isDelivered) return void (yield clearFailure(webhookId))
      const failingMs = yield* noteFailure(webhookId)
      if (isGone) yield* disable(webhookId, "The receiver responded with 410 Gone")
      else if (failingMs >= limits.failingMsMax) yield* disable(webhookId, failedForDays)
    },
    *startRun(claim: Claim, run: WebhookRun, attempt: RecordedAttempt): Script<void> {
      const { id, valId, ownerId, depth, args } = run
      const file = run.file ? { file: run.file } : {}
      const set = sql`status = 'delivered', ended_at = ${now}, run_id = ${id}, ${toColumns(attempt)}`
      // Without a valid claim, another node starts the run.
      if (!(yield* claims.end(claim, set))) return
      const added = yield* enqueueRuns(db.dialect, [
        { id, valId, ...file, version: "current", accountId: ownerId, source: "api", depth, args },
      ])
      if (added.length === 0)
        yield sql`update webhook_deliveries set status = 'failed', run_id = null,
          error = 'The val does not exist any more' where id = ${claim.id}`
    },
  }
}

const failedForDays = "Every attempt has failed for five days"

/** Writes nothing when the webhook was not failing. */
function clearFailure(webhookId: string): Statement {
  return sql`update webhooks set failing_since = null where id = ${webhookId} and failing_since is not null`
}

function toColumns({ request, response, error, attemptList }: RecordedAttempt): Statement {
  return sql`error = ${error}, response_status = ${response?.status ?? null}, request = ${toJson(request)},
    response = ${toJson(response)}, attempt_list = ${toJson(attemptList)}`
}

function* purge(select: Statement, countMax: number): Script<boolean> {
  const found = yield* rows<{ id: string }>(select)
  for (const batch of inBatches(found.map(({ id }) => id)))
    yield sql`delete from webhook_deliveries where id in (${list(batch)})`
  return found.length === countMax
}

/** The columns of a delivery. */
const deliveryColumns = raw(
  "id, webhook_id, type, status, attempts_before + attempts as attempts, created_at, next_attempt_at, ended_at, response_status, error, run_id",
)

/** The message and the attempts of a delivery; `d` is its row. */
const messageColumns = raw(
  "d.type as message__type, d.at as message__at, d.data as message__data_json, coalesce(d.attempt_list, '[]') as attempt_list_json",
)
