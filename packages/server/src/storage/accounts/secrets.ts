import type { SealedSecret, Secret, SecretStore } from "../../domain/secrets/secrets.ts"
import { type Database, firstRow, type Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { afterCursor, limitTo, toPage } from "../database/pagination.ts"
import { raw, type Statement, sql } from "../database/sql.ts"

/** A row without its value. */
export interface SecretRow {
  readonly name: string
  readonly hosts: string | null
  readonly created_at: number | string
  readonly updated_at: number | string
}

interface SealedSecretRow extends SecretRow {
  readonly user_id: string
  readonly key_id: string
  readonly sealed: Uint8Array
}

const sealedColumns = raw("user_id, name, key_id, sealed, hosts, created_at, updated_at")

/** Secrets in the database. Their values are encrypted before they get here. */
export function createSecretStore(db: Database): SecretStore {
  return {
    async list(userId, page) {
      const rows = await db.read<SecretRow>(sql`
        select name, hosts, created_at, updated_at from secrets where user_id = ${userId}
          ${afterCursor(page, "created_at, name", ["time", "text"])} order by created_at desc, name desc ${limitTo(page)}`)
      return toPage(rows, page, toSecret, (row) => [Number(row.created_at), row.name])
    },
    async listSealed(userId) {
      const rows = await db.read<SealedSecretRow>(
        sql`select ${sealedColumns} from secrets where user_id = ${userId}`,
      )
      return rows.map(toSealedSecret)
    },
    put: (secret, countMax) => db.write(() => putSecret(db.dialect, secret, countMax)),
    remove: (userId, name) =>
      db.write(function* () {
        const removed = yield* firstRow(
          sql`delete from secrets where user_id = ${userId} and name = ${name} returning name`,
        )
        if (removed === undefined) return false
        yield renewEnvironment(userId)
        return true
      }),
    async listOtherKeys(keyId, countMax) {
      const rows = await db.read<SealedSecretRow>(sql`
        select ${sealedColumns} from secrets where key_id < ${keyId} or key_id > ${keyId} limit ${countMax}`)
      return rows.map(toSealedSecret)
    },
    reseal: (secret, sealed) =>
      db.write(function* () {
        yield sql`update secrets set key_id = ${sealed.keyId}, sealed = ${sealed.bytes}
          where user_id = ${secret.userId} and name = ${secret.name} and sealed = ${secret.sealed.bytes}`
      }),
  }
}

function* putSecret(dialect: Dialect, secret: SealedSecret, countMax: number): Script<boolean> {
  // Locks the row of the user, so that concurrent new secrets are counted one after the other.
  yield sql`select id from users where id = ${secret.userId} ${dialect.forUpdate}`
  const others = yield* firstRow<{ count: number | string }>(sql`
    select count(*) as count from secrets where user_id = ${secret.userId} and name <> ${secret.name}`)
  if (Number(others?.count) >= countMax) return false
  const hosts = secret.hosts && JSON.stringify(secret.hosts)
  yield sql`insert into secrets (user_id, name, key_id, sealed, hosts, created_at, updated_at)
    values (${secret.userId}, ${secret.name}, ${secret.sealed.keyId}, ${secret.sealed.bytes}, ${hosts}, ${secret.createdAt}, ${secret.updatedAt})
    on conflict (user_id, name) do update
    set key_id = excluded.key_id, sealed = excluded.sealed, hosts = excluded.hosts, updated_at = excluded.updated_at`
  yield renewEnvironment(secret.userId)
  return true
}

/** Retires the processes that have the previous secrets in their environment. */
export function renewEnvironment(userId: string): Statement {
  return sql`update users set secrets_version = secrets_version + 1 where id = ${userId}`
}

function toSealedSecret(row: SealedSecretRow): SealedSecret {
  return { ...toSecret(row), userId: row.user_id, sealed: { keyId: row.key_id, bytes: row.sealed } }
}

/** Converts a row to a secret without its value. */
export function toSecret(row: SecretRow): Secret {
  return {
    name: row.name,
    hosts: row.hosts === null ? null : (JSON.parse(row.hosts) as string[]),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  }
}
