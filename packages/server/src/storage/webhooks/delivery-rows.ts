import type {
  Attempt,
  Delivery,
  DeliveryDetail,
  DueDelivery,
  ReceiverResponse,
  SentRequest,
} from "../../domain/webhooks/deliveries.ts"
import type { Message, MessageType, StoredData } from "../../domain/webhooks/events.ts"
import { raw } from "../database/sql.ts"
import { fromJson } from "../runs/run-rows.ts"
import { toTime } from "../vals/val-rows.ts"

export interface DeliveryRow {
  readonly id: string
  readonly webhook_id: string
  readonly type: MessageType
  readonly status: Delivery["status"]
  readonly attempts: number
  readonly attempts_before: number
  readonly created_at: number | string
  readonly next_attempt_at: number | string | null
  readonly ended_at: number | string | null
  readonly response_status: number | null
  readonly error: string | null
  readonly run_id: string | null
}

/** The columns of a DeliveryRow. */
export const deliveryColumns = raw(
  "id, webhook_id, type, status, attempts, attempts_before, created_at, next_attempt_at, ended_at, response_status, error, run_id",
)

export interface DetailRow extends DeliveryRow {
  readonly at: number | string
  readonly data: string
  readonly request: string | null
  readonly response: string | null
  readonly attempt_list: string | null
}

/** The further columns of a DetailRow. */
export const detailColumns = raw("at, data, request, response, attempt_list")

export interface DueRow {
  readonly type: MessageType
  readonly at: number | string
  readonly data: string
  readonly depth: number
  readonly is_manual: number
  readonly tried_since: number | string
  readonly now: number | string
  readonly attempt_list: string | null
  readonly webhook_id: string
  readonly owner_id: string
  readonly suspended_at: number | string | null
  readonly webhook_status: DueDelivery["webhook"]["status"]
  readonly url: string | null
  readonly target_val_id: string | null
  readonly key_id: string
  readonly sealed: Uint8Array
}

/** The columns of a DueRow, without the clock; `d` is the delivery, `w` its webhook, `u` its owner. */
export const dueColumns =
  raw(`d.type, d.at, d.data, d.depth, d.is_manual, d.tried_since, d.attempt_list, d.webhook_id,
  w.owner_id, u.suspended_at, w.status as webhook_status, w.url, w.target_val_id, w.key_id, w.sealed`)

export function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    type: row.type,
    status: row.status,
    attempts: row.attempts_before + row.attempts,
    createdAt: Number(row.created_at),
    nextAttemptAt: toTime(row.next_attempt_at),
    endedAt: toTime(row.ended_at),
    responseStatus: row.response_status,
    error: row.error,
    runId: row.run_id,
  }
}

export function toDetail(row: DetailRow): DeliveryDetail {
  return {
    ...toDelivery(row),
    message: toMessage(row),
    request: fromJson<SentRequest>(row.request),
    response: fromJson<ReceiverResponse>(row.response),
    attemptList: fromJson<readonly Attempt[]>(row.attempt_list) ?? [],
  }
}

export function toDue(row: DueRow): DueDelivery {
  return {
    message: toMessage(row),
    depth: row.depth,
    triedSince: Number(row.tried_since),
    now: Number(row.now),
    isManual: row.is_manual === 1,
    isOwnerSuspended: row.suspended_at !== null,
    attemptList: fromJson<readonly Attempt[]>(row.attempt_list) ?? [],
    webhook: {
      id: row.webhook_id,
      ownerId: row.owner_id,
      status: row.webhook_status,
      url: row.url,
      targetValId: row.target_val_id,
      sealed: { keyId: row.key_id, bytes: row.sealed },
    },
  }
}

function toMessage({
  type,
  at,
  data,
}: {
  readonly type: MessageType
  readonly at: number | string
  readonly data: string
}): Message {
  return { type, at: Number(at), data: JSON.parse(data) as StoredData }
}
