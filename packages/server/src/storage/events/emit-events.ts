import {
  type Dialect,
  firstRow,
  inBatches,
  join,
  list,
  rows,
  type Statement,
  type Statements,
  sql,
} from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import type { EventData, EventType, NewEvent, StoredData } from "../../domain/webhooks/events.ts"
import { asAdded } from "../claims/row-claims.ts"
import { entryType } from "../files/branch-rows.ts"

const limits = {
  /** Deliveries to the webhooks of one owner within a minute. Further events are dropped. */
  perMinuteMax: 600,
  /** Deliveries to one webhook that wait. Further events are dropped. */
  waitingMax: 1_000,
}

interface Subscription {
  readonly id: string
  readonly types: readonly EventType[]
  readonly valId: string | null
}

interface EventValRow {
  readonly id: string
  readonly name: string
  readonly username: string
  readonly version: number
  readonly privacy: string
  readonly type: string
}

/** An event whose data may take a statement to read, which is run only if a webhook wants it. */
interface EmittedEvent extends NewEvent {
  readData?(): Statements<EventData>
}

/** An event for one webhook. */
interface NewDelivery {
  readonly webhookId: string
  readonly event: EmittedEvent
}

/**
 * Part of a transaction: stores a delivery of the event for each webhook of the owner that wants
 * it, so that it is sent if and only if the transaction commits. Without webhooks it costs a lookup
 * in an index. To be called while the val exists.
 */
export function* emitEvent(dialect: Dialect, event: EmittedEvent): Statements<void> {
  yield* emitEvents(dialect, [event])
}

/** Stores the deliveries of several events, in order, like `emitEvent`. */
export function* emitEvents(dialect: Dialect, events: readonly EmittedEvent[]): Statements<void> {
  for (const [ownerId, ofOwner] of Map.groupBy(events, (event) => event.ownerId)) {
    const subscriptions = yield* rows<Subscription>`
      select id, events as types_json, val_id from webhooks where owner_id = ${ownerId} and status = 'active'
      order by created_at, id`
    if (subscriptions.length > 0)
      yield* addDeliveries(dialect, ownerId, match(ofOwner, subscriptions))
  }
}

function match(
  events: readonly EmittedEvent[],
  subscriptions: readonly Subscription[],
): readonly NewDelivery[] {
  return events.flatMap((event) =>
    subscriptions
      .filter(
        ({ types, valId }) =>
          types.includes(event.type) && (valId === null || valId === event.valId),
      )
      .map(({ id }) => ({ webhookId: id, event })),
  )
}

function* addDeliveries(
  dialect: Dialect,
  ownerId: string,
  all: readonly NewDelivery[],
): Statements<void> {
  if (all.length === 0) return
  const added = yield* findRoom(dialect, ownerId, all)
  const vals = yield* findVals([...new Set(added.map(({ event }) => event.valId))])
  for (const batch of inBatches(added.filter(({ event }) => vals.has(event.valId)))) {
    const values: Statement[] = []
    for (const { webhookId, event } of batch) {
      const data = event.readData ? yield* event.readData() : event.data
      const val = vals.get(event.valId) as EventValRow
      values.push(toValues(dialect, webhookId, event, { ...data, val: { ...val } }))
    }
    yield asAdded(
      "webhook_deliveries",
      sql`insert into webhook_deliveries (id, webhook_id, owner_id, type, event_key, at, depth, data, status, lane,
        next_attempt_at, tried_since, created_at)
      values ${join(values, ", ")} on conflict (webhook_id, event_key) do nothing`,
    )
  }
  if (added.length < all.length) yield* countDropped(all.filter((one) => !added.includes(one)))
}

/** How many more deliveries may wait for the webhook. */
export function* countRoom(webhookId: string): Statements<number> {
  const waiting = yield* firstRow<{ count: number }>`
    select count(*) as count from (select 1 from webhook_deliveries
      where webhook_id = ${webhookId} and next_attempt_at is not null limit ${limits.waitingMax}) counted`
  return limits.waitingMax - (waiting?.count ?? 0)
}

/** The deliveries for which there is room now. */
function* findRoom(
  dialect: Dialect,
  ownerId: string,
  all: readonly NewDelivery[],
): Statements<readonly NewDelivery[]> {
  const recent = yield* firstRow<{ count: number }>`
    select count(*) as count from (select 1 from webhook_deliveries
      where owner_id = ${ownerId} and created_at > ${dialect.now} - 60000 limit ${limits.perMinuteMax}) counted`
  const room = new Map<string, number>()
  for (const { webhookId } of all) {
    if (!room.has(webhookId)) room.set(webhookId, yield* countRoom(webhookId))
  }
  let left = limits.perMinuteMax - (recent?.count ?? 0)
  return all.filter(({ webhookId }) => {
    const of = room.get(webhookId) ?? 0
    if (left <= 0 || of <= 0) return false
    left -= 1
    room.set(webhookId, of - 1)
    return true
  })
}

function* findVals(ids: readonly string[]): Statements<ReadonlyMap<string, EventValRow>> {
  const found = new Map<string, EventValRow>()
  for (const batch of inBatches(ids)) {
    for (const val of yield* rows<EventValRow>`
      select v.id, v.name, u.username, b.version, v.privacy, ${entryType} as type from vals v join branches b on b.id = v.id join users u on u.id = v.owner_id
      where v.id in (${list(batch)})`)
      found.set(val.id, val)
  }
  return found
}

function toValues(
  dialect: Dialect,
  webhookId: string,
  event: NewEvent,
  data: StoredData,
): Statement {
  const { now } = dialect
  return sql`(${Bun.randomUUIDv7()}, ${webhookId}, ${event.ownerId}, ${event.type}, ${event.key}, ${event.at ?? now},
    ${(event.depth ?? 0) + 1}, ${toOwnJson(data)}, 'waiting', ${`${webhookId}/${event.valId}`}, ${now}, ${now}, ${now})`
}

/** In the order of ids, so that two transactions wait for each other instead of deadlocking. */
function* countDropped(dropped: readonly NewDelivery[]): Statements<void> {
  const byWebhook = Map.groupBy(dropped, ({ webhookId }) => webhookId)
  for (const id of [...byWebhook.keys()].sort())
    yield sql`update webhooks set dropped_count = dropped_count + ${byWebhook.get(id)?.length ?? 0} where id = ${id}`
}
