import type { Sealed } from "../../domain/secrets/cipher.ts"
import type { SealedSecret, Secret, SecretStore } from "../../domain/secrets/secrets.ts"
import { parseOwnJson, toOwnJson } from "../../shared/hostile-input/bounded.ts"
import { type Database, firstRow, type Script } from "../database/database.ts"
import { afterCursor, limitTo, toPage } from "../database/pagination.ts"
import { raw, type Statement, sql } from "../database/sql.ts"

/** A row without its value. */
interface SecretRow {
  readonly name: string
  readonly hosts: string | null
  readonly created_at: number | string
  readonly updated_at: number | string
}

interface SealedRow extends SecretRow {
  readonly owner: string
  readonly key_id: string
  readonly sealed: Uint8Array
}

/** A table of secrets, and its column for the account or the val that they belong to. */
export interface SecretTable {
  readonly name: "secrets" | "val_secrets"
  readonly owner: "user_id" | "val_id"
}

type StoredSecret = Omit<SealedSecret, "userId">

const ofAccounts: SecretTable = { name: "secrets", owner: "user_id" }

/** Secrets in the database. Their values are encrypted before they get here. */
export function createSecretStore(db: Database): SecretStore {
  return {
    ...createSealedStore(
      db,
      ofAccounts,
      (secret, userId): SealedSecret => ({ ...secret, userId }),
      ({ userId }) => userId,
    ),
    put: (secret, countMax) =>
      db.write(function* () {
        // Locks the row of the user, so that concurrent new secrets are counted one after the other.
        yield sql`select id from users where id = ${secret.userId} ${db.dialect.forUpdate}`
        return yield* upsertSecret(ofAccounts, secret.userId, secret, countMax, secret.userId)
      }),
    remove: (userId, name) => db.write(() => removeSecret(ofAccounts, userId, name, userId)),
  }
}

/** The part of a store that is the same for accounts and vals. */
export function createSealedStore<Stored extends StoredSecret>(
  db: Database,
  table: SecretTable,
  toStored: (secret: StoredSecret, ownerId: string) => Stored,
  toOwnerId: (secret: Stored) => string,
) {
  const [name, owner] = [raw(table.name), raw(table.owner)]
  const select = sql`select ${owner} as owner, name, key_id, sealed, hosts, created_at, updated_at from ${name}`
  const listStored = async (condition: Statement) => {
    const rows = await db.read<SealedRow>(sql`${select} where ${condition}`)
    return rows.map((row) =>
      toStored({ ...toSecret(row), sealed: { keyId: row.key_id, bytes: row.sealed } }, row.owner),
    )
  }
  return {
    async list(ownerId: string, page: Parameters<SecretStore["list"]>[1]) {
      const rows = await db.read<SecretRow>(sql`
        select name, hosts, created_at, updated_at from ${name} where ${owner} = ${ownerId}
          ${afterCursor(page, "created_at, name", ["time", "text"])} order by created_at desc, name desc ${limitTo(page)}`)
      return toPage(rows, page, toSecret, (row) => [Number(row.created_at), row.name])
    },
    listSealed: (ownerId: string) => listStored(sql`${owner} = ${ownerId}`),
    listOtherKeys: (keyId: string, countMax: number) =>
      listStored(sql`key_id < ${keyId} or key_id > ${keyId} limit ${countMax}`),
    reseal: (secret: Stored, sealed: Sealed) =>
      db.write(function* () {
        yield sql`update ${name} set key_id = ${sealed.keyId}, sealed = ${sealed.bytes}
          where ${owner} = ${toOwnerId(secret)} and name = ${secret.name} and sealed = ${secret.sealed.bytes}`
      }),
  }
}

/** The caller has locked the account, whose processes have the secrets in their environment. */
export function* upsertSecret(
  table: SecretTable,
  ownerId: string,
  secret: StoredSecret,
  countMax: number,
  accountId: string,
): Script<boolean> {
  const [name, owner] = [raw(table.name), raw(table.owner)]
  const others = yield* firstRow<{ count: number | string }>(sql`
    select count(*) as count from ${name} where ${owner} = ${ownerId} and name <> ${secret.name}`)
  if (Number(others?.count) >= countMax) return false
  const hosts = secret.hosts && toOwnJson(secret.hosts)
  yield sql`insert into ${name} (${owner}, name, key_id, sealed, hosts, created_at, updated_at)
    values (${ownerId}, ${secret.name}, ${secret.sealed.keyId}, ${secret.sealed.bytes}, ${hosts}, ${secret.createdAt}, ${secret.updatedAt})
    on conflict (${owner}, name) do update
    set key_id = excluded.key_id, sealed = excluded.sealed, hosts = excluded.hosts, updated_at = excluded.updated_at`
  yield renewEnvironment(accountId)
  return true
}

export function* removeSecret(
  table: SecretTable,
  ownerId: string,
  name: string,
  accountId: string,
): Script<boolean> {
  const removed = yield* firstRow(
    sql`delete from ${raw(table.name)} where ${raw(table.owner)} = ${ownerId} and name = ${name} returning name`,
  )
  if (removed === undefined) return false
  yield renewEnvironment(accountId)
  return true
}

/** Retires the processes that have the previous secrets in their environment. */
function renewEnvironment(userId: string): Statement {
  return sql`update users set secrets_version = secrets_version + 1 where id = ${userId}`
}

function toSecret(row: SecretRow): Secret {
  return {
    name: row.name,
    hosts: row.hosts === null ? null : (parseOwnJson(row.hosts) as string[]),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  }
}
