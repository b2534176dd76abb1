import type { Claim, IdempotencyStore } from "../domain/idempotency.ts"
import { type Database, firstRow, rows } from "./database.ts"
import { type Statement, sql } from "./sql.ts"

interface KeyRow {
  readonly fingerprint: Uint8Array
  readonly answer: Uint8Array | null
}

/** Idempotency keys in the database. */
export function createIdempotencyStore(db: Database): IdempotencyStore {
  return {
    claim: ({ userId, key, fingerprint, at, expiresAt }) =>
      db.write(function* () {
        const claimed = yield* firstRow(sql`
          insert into idempotency_keys (user_id, key, fingerprint, answer, expires_at)
          values (${userId}, ${key}, ${fingerprint}, null, ${expiresAt})
          on conflict (user_id, key) do update set fingerprint = excluded.fingerprint, answer = null, expires_at = excluded.expires_at
          where idempotency_keys.expires_at <= ${at} returning key`)
        if (claimed) return undefined
        const known = yield* firstRow<KeyRow>(
          sql`select fingerprint, answer from idempotency_keys where user_id = ${userId} and key = ${key}`,
        )
        return known && { fingerprint: known.fingerprint, answer: known.answer ?? undefined }
      }),
    keep: (claim, answer, until) =>
      db.write(function* () {
        yield sql`update idempotency_keys set answer = ${answer}, expires_at = ${until} where ${isStill(claim)}`
      }),
    release: (claim) =>
      db.write(function* () {
        yield sql`delete from idempotency_keys where ${isStill(claim)}`
      }),
    purge: (at, countMax) =>
      db.write(function* () {
        const expired = yield* rows<{ user_id: string; key: string }>(sql`
          select user_id, key from idempotency_keys where expires_at <= ${at} order by expires_at limit ${countMax}`)
        for (const { user_id, key } of expired) {
          yield sql`delete from idempotency_keys where user_id = ${user_id} and key = ${key} and expires_at <= ${at}`
        }
        return expired.length > 0
      }),
  }
}

/** Whoever took longer than a claim lasts may find that the key is somebody else's. */
function isStill({ userId, key, expiresAt }: Claim): Statement {
  return sql`user_id = ${userId} and key = ${key} and answer is null and expires_at = ${expiresAt}`
}
