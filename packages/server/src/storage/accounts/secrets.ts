import {
  type Database,
  firstRow,
  listOrder,
  nothing,
  raw,
  readPage,
  type Script,
  type Statement,
  sql,
} from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import type { Sealed } from "../../domain/secrets/cipher.ts"
import type { SealedSecret, SecretStore } from "../../domain/secrets/secrets.ts"
import type { SealedValSecret, ValSecret } from "../../domain/secrets/val-secrets.ts"

type SealedRow = StoredSecret & { readonly owner: string }

/** A table of secrets, and its column for the account or the val that they belong to. */
export interface SecretTable {
  readonly name: "secrets" | "val_secrets"
  readonly owner: "user_id" | "val_id"
  /** Whether they have descriptions. */
  readonly isDescribed: boolean
}

type StoredSecret = Omit<SealedSecret, "userId"> & { readonly description: string | null }

const ofAccounts: SecretTable = { name: "secrets", owner: "user_id", isDescribed: false }

/** Secrets in the database. Their values are encrypted before they get here. */
export function createSecretStore(db: Database): SecretStore {
  return {
    ...createSealedStore(
      db,
      ofAccounts,
      ({ description: _, ...secret }, userId): SealedSecret => ({ ...secret, userId }),
      ({ userId }) => userId,
    ),
    put: (secret, countMax) =>
      db.write(function* () {
        // Locks the row of the user, so that concurrent new secrets are counted one after the other.
        yield sql`select id from users where id = ${secret.userId} ${db.dialect.forUpdate}`
        const others = yield* countOthers(ofAccounts, secret.userId, secret.name)
        if (others >= countMax) return false
        yield* upsertSecret(
          ofAccounts,
          secret.userId,
          { ...secret, description: null },
          secret.userId,
        )
        return true
      }),
    remove: (userId, name) => db.write(() => removeSecret(ofAccounts, userId, name, userId)),
  }
}

/** The part of a store that is the same for accounts and vals. */
export function createSealedStore<Stored extends SealedSecret | SealedValSecret>(
  db: Database,
  table: SecretTable,
  toStored: (secret: StoredSecret, ownerId: string) => Stored,
  toOwnerId: (secret: Stored) => string,
) {
  const [name, owner] = [raw(table.name), raw(table.owner)]
  const columns = sql`${owner} as owner, key_id as sealed__key_id, sealed as sealed__bytes, ${columnsOf(table)}`
  const listStored = async (condition: Statement) => {
    const rows = await db.read<SealedRow>`select ${columns} from ${name} where ${condition}`
    return rows.map((row) => toStored(row, row.owner))
  }
  return {
    list: (ownerId: string, page: Parameters<SecretStore["list"]>[1]) =>
      readPage(db, page, byTime)`
        select ${columnsOf(table)} from ${name} where ${owner} = ${ownerId}`,
    listSealed: (ownerId: string) => listStored(sql`${owner} = ${ownerId}`),
    listOtherKeys: (keyId: string, countMax: number) =>
      listStored(sql`key_id < ${keyId} or key_id > ${keyId} limit ${countMax}`),
    reseal: (secret: Stored, sealed: Sealed) =>
      db.run`update ${name} set key_id = ${sealed.keyId}, sealed = ${sealed.bytes}
        where ${owner} = ${toOwnerId(secret)} and name = ${secret.name} and sealed = ${secret.sealed.bytes}`,
  }
}

const byTime = listOrder<ValSecret>("created_at, name", ["time", "text"], (it) => [
  it.createdAt,
  it.name,
])

function columnsOf({ isDescribed }: SecretTable): Statement {
  return raw(
    `name, hosts as hosts_json, created_at, updated_at, ${isDescribed ? "" : "null as "}description`,
  )
}

/** The secret with that name. */
export function findSecret(
  table: SecretTable,
  ownerId: string,
  name: string,
): Script<ValSecret | undefined> {
  return firstRow<ValSecret>`
    select ${columnsOf(table)} from ${raw(table.name)}
    where ${raw(table.owner)} = ${ownerId} and name = ${name}`
}

/** The number of secrets besides the one with that name. */
export function* countOthers(table: SecretTable, ownerId: string, name: string): Script<number> {
  const others = yield* firstRow<{ count: number }>`
    select count(*) as count from ${raw(table.name)}
    where ${raw(table.owner)} = ${ownerId} and name <> ${name}`
  return others?.count ?? 0
}

/** The caller has locked the account, whose processes have the secrets in their environment. */
export function* upsertSecret(
  table: SecretTable,
  ownerId: string,
  secret: StoredSecret,
  accountId: string,
): Script<void> {
  const [name, owner] = [raw(table.name), raw(table.owner)]
  const more = table.isDescribed
    ? {
        column: raw(", description"),
        value: sql`, ${secret.description}`,
        change: raw(", description = excluded.description"),
      }
    : { column: nothing, value: nothing, change: nothing }
  const hosts = secret.hosts && toOwnJson(secret.hosts)
  yield sql`insert into ${name} (${owner}, name, key_id, sealed, hosts, created_at, updated_at${more.column})
    values (${ownerId}, ${secret.name}, ${secret.sealed.keyId}, ${secret.sealed.bytes}, ${hosts}, ${secret.createdAt}, ${secret.updatedAt}${more.value})
    on conflict (${owner}, name) do update
    set key_id = excluded.key_id, sealed = excluded.sealed, hosts = excluded.hosts, updated_at = excluded.updated_at${more.change}`
  yield renewEnvironment(accountId)
}

export function* removeSecret(
  table: SecretTable,
  ownerId: string,
  name: string,
  accountId: string,
): Script<boolean> {
  const removed = yield* firstRow`
    delete from ${raw(table.name)} where ${raw(table.owner)} = ${ownerId} and name = ${name} returning name`
  if (removed === undefined) return false
  yield renewEnvironment(accountId)
  return true
}

/** Retires the processes that have the previous secrets in their environment. */
function renewEnvironment(userId: string): Statement {
  return sql`update users set secrets_version = secrets_version + 1 where id = ${userId}`
}
