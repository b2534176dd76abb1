import type { Secret } from "../../domain/secrets/secrets.ts"
import type {
  SealedValSecret,
  SecretVal,
  ValSecretStore,
} from "../../domain/secrets/val-secrets.ts"
import type { AssertVal } from "../../domain/vals/vals.ts"
import { renewEnvironment, type SecretRow, toSecret } from "../accounts/secrets.ts"
import { type Database, firstRow, type Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { afterCursor, limitTo, toPage } from "../database/pagination.ts"
import { raw, type Statements, sql } from "../database/sql.ts"

interface SealedValSecretRow extends SecretRow {
  readonly val_id: string
  readonly key_id: string
  readonly sealed: Uint8Array
}

interface OwnedRow {
  readonly id: string
  readonly name: string
  readonly privacy: SecretVal["privacy"]
  readonly owner_id: string
  readonly owner_name: string
}

const sealedColumns = raw("val_id, name, key_id, sealed, hosts, created_at, updated_at")

/** Secrets of single vals in the database. Their values are encrypted before they get here. */
export function createValSecretStore(db: Database): ValSecretStore {
  return {
    async list(valId, page) {
      const rows = await db.read<SecretRow>(sql`
        select name, hosts, created_at, updated_at from val_secrets where val_id = ${valId}
          ${afterCursor(page, "created_at, name", ["time", "text"])} order by created_at desc, name desc ${limitTo(page)}`)
      return toPage(rows, page, toSecret, (row) => [Number(row.created_at), row.name])
    },
    async listSealed(valId) {
      const rows = await db.read<SealedValSecretRow>(
        sql`select ${sealedColumns} from val_secrets where val_id = ${valId}`,
      )
      return rows.map(toSealedValSecret)
    },
    put: (secret, assert, countMax) =>
      db.write(() => putSecret(db.dialect, secret, assert, countMax)),
    remove: (valId, name, assert) => db.write(() => removeSecret(db.dialect, valId, name, assert)),
    async listOtherKeys(keyId, countMax) {
      const rows = await db.read<SealedValSecretRow>(sql`
        select ${sealedColumns} from val_secrets where key_id < ${keyId} or key_id > ${keyId} limit ${countMax}`)
      return rows.map(toSealedValSecret)
    },
    reseal: (secret, sealed) =>
      db.write(function* () {
        yield sql`update val_secrets set key_id = ${sealed.keyId}, sealed = ${sealed.bytes}
          where val_id = ${secret.valId} and name = ${secret.name} and sealed = ${secret.sealed.bytes}`
      }),
  }
}

function* putSecret(
  dialect: Dialect,
  secret: SealedValSecret,
  assert: AssertVal<SecretVal>,
  countMax: number,
): Script<boolean | undefined> {
  const val = yield* lockVal(dialect, secret.valId)
  if (!val) return undefined
  assert(val)
  const others = yield* firstRow<{ count: number | string }>(sql`
    select count(*) as count from val_secrets where val_id = ${secret.valId} and name <> ${secret.name}`)
  if (Number(others?.count) >= countMax) return false
  const hosts = secret.hosts && JSON.stringify(secret.hosts)
  yield sql`insert into val_secrets (val_id, name, key_id, sealed, hosts, created_at, updated_at)
    values (${secret.valId}, ${secret.name}, ${secret.sealed.keyId}, ${secret.sealed.bytes}, ${hosts}, ${secret.createdAt}, ${secret.updatedAt})
    on conflict (val_id, name) do update
    set key_id = excluded.key_id, sealed = excluded.sealed, hosts = excluded.hosts, updated_at = excluded.updated_at`
  yield renewEnvironment(val.ownerId)
  return true
}

function* removeSecret(
  dialect: Dialect,
  valId: string,
  name: string,
  assert: AssertVal<SecretVal>,
): Script<boolean | undefined> {
  const val = yield* lockVal(dialect, valId)
  if (!val) return undefined
  assert(val)
  const removed = yield* firstRow(
    sql`delete from val_secrets where val_id = ${valId} and name = ${name} returning name`,
  )
  if (!removed) return false
  yield renewEnvironment(val.ownerId)
  return true
}

/**
 * Reads the val and locks the row of its owner, as everything that renews the environment does, so
 * that concurrent new secrets are counted one after the other, and the val, so that it is not deleted meanwhile.
 */
function* lockVal(dialect: Dialect, valId: string): Statements<SecretVal | undefined> {
  yield sql`select id from users where id = (select owner_id from vals where id = ${valId}) ${dialect.forUpdate}`
  const row = yield* firstRow<OwnedRow>(sql`
    select v.id, v.name, v.privacy, v.owner_id, u.username as owner_name
    from vals v join users u on u.id = v.owner_id where v.id = ${valId} ${dialect.forUpdate}`)
  if (!row) return undefined
  const { id, name, privacy, owner_id: ownerId, owner_name: ownerName } = row
  return { id, name, privacy, ownerId, ownerName }
}

function toSealedValSecret(row: SealedValSecretRow): SealedValSecret {
  const secret: Secret = toSecret(row)
  return { ...secret, valId: row.val_id, sealed: { keyId: row.key_id, bytes: row.sealed } }
}
