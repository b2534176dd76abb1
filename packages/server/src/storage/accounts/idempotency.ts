import { type Database, firstRow, raw, rows, type Statement, sql } from "@hamlet/database"
import type { KeyClaim } from "@hamlet/kit"
import type { IdempotencyStore } from "../../domain/accounts/idempotency.ts"
import { isLive } from "../claims/node-claims.ts"

interface KeyRow {
  readonly fingerprint: Uint8Array
  readonly answer: Uint8Array | null
}

/** Idempotency keys in the database. */
export function createIdempotencyStore(db: Database): IdempotencyStore {
  return {
    claim: ({ userId, key, nodeId, fingerprint, at, discardBefore, expiresAt }) =>
      db.write(function* () {
        const over = isOver(at, discardBefore)
        const claimed = yield* firstRow<{ progress: Uint8Array | null }>`
          insert into idempotency_keys (user_id, key, fingerprint, answer, expires_at, node_id)
          values (${userId}, ${key}, ${fingerprint}, null, ${expiresAt}, ${nodeId})
          on conflict (user_id, key) do update set fingerprint = excluded.fingerprint, answer = null, expires_at = excluded.expires_at,
            node_id = excluded.node_id, progress = case when ${over} then null else idempotency_keys.progress end
          where ${over} or (${isVoid(at)}
            and (idempotency_keys.progress is null or idempotency_keys.fingerprint = excluded.fingerprint))
          returning progress`
        if (claimed) return { kind: "claimed", progress: claimed.progress ?? undefined }
        const existing = yield* firstRow<KeyRow>`
          select fingerprint, answer from idempotency_keys where user_id = ${userId} and key = ${key}`
        return (
          existing && {
            kind: "known",
            fingerprint: existing.fingerprint,
            response: existing.answer ?? undefined,
          }
        )
      }),
    saveResponse: (claim, answer, until) =>
      db.run`
        update idempotency_keys set answer = ${answer}, progress = null, expires_at = ${until} where ${isHeld(claim)}`,
    release: (claim) => db.run`delete from idempotency_keys where ${isHeld(claim)}`,
    suspend: (claim, at) =>
      db.run`
        update idempotency_keys set expires_at = ${at} where ${isHeld(claim)}`,
    purge: (at, discardBefore, countMax) =>
      db.write(function* () {
        const over = isOver(at, discardBefore)
        const expired = yield* rows<{ userId: string; key: string }>`
          select user_id, key from idempotency_keys where ${over} order by expires_at limit ${countMax}`
        for (const { userId, key } of expired) {
          yield sql`delete from idempotency_keys where user_id = ${userId} and key = ${key} and ${over}`
        }
        return expired.length > 0
      }),
  }
}

/**
 * Whether the key can be deleted. A request that started and has written something is kept for as
 * long as a response.
 */
function isOver(at: number, discardBefore: number): Statement {
  return sql`(idempotency_keys.expires_at <= ${at} and (idempotency_keys.answer is not null or idempotency_keys.progress is null
    or idempotency_keys.expires_at <= ${discardBefore}))`
}

/**
 * A key is void if it has no response, and no node works on it: its claim has expired, or its node
 * is gone.
 */
function isVoid(at: number): Statement {
  return sql`(idempotency_keys.answer is null and (idempotency_keys.expires_at <= ${at} or (idempotency_keys.node_id is not null
    and not ${isLive(raw("idempotency_keys.node_id"))})))`
}

/** After a claim has expired, another request may have claimed the key. */
export function isHeld({ userId, key, expiresAt }: KeyClaim): Statement {
  return sql`user_id = ${userId} and key = ${key} and answer is null and expires_at = ${expiresAt}`
}
