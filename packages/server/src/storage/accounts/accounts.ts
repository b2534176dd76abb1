import {
  type Database,
  type Dialect,
  firstId,
  firstRow,
  idOrder,
  list,
  readPage,
  rows,
  type Script,
  type Statement,
  type Statements,
  sql,
} from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import type { Account, AccountState, AccountStore } from "../../domain/accounts/accounts.ts"
import type { AuditEntry } from "../../domain/accounts/audit.ts"
import { noQuotas, type Quotas } from "../../domain/limits/quotas.ts"
import { assertNotLastOwner } from "../organisations/members.ts"
import { insertAuditEntry } from "./audit.ts"
import { purgeAccount } from "./purge-account.ts"
import { insertToken } from "./tokens.ts"
import { userColumns } from "./users.ts"
import { writeOnce } from "./write-once.ts"

interface StateRow {
  readonly id: string
  readonly suspendedAt: number | null
  readonly quotas: Partial<Quotas> | null
}

const purgesMax = 10

/** The part of users that administrators see and change. */
export function createAccountStore(db: Database): AccountStore {
  const select = sql`select ${userColumns}, suspended_at, deleted_at from users`
  return {
    list: (page) =>
      readPage<Account>(db, page, idOrder(""))`
        ${select} where id > ${firstId}`,
    find: (id) => db.first<Account>`${select} where id = ${id}`,
    suspend: (id, audit) => db.write(() => suspend(id, audit)),
    unsuspend: (id, audit) =>
      db.write(() =>
        change(
          sql`suspended_at = null, deleted_at = null`,
          sql`id = ${id} and purge_at is null`,
          audit,
        ),
      ),
    close: (id, audit) => db.write(() => close(db.dialect, id, audit)),
    closeForPurge: (id, audit) =>
      db.write(function* () {
        yield sql`update users set purge_at = ${audit.at} where id = ${id}`
        return yield* close(db.dialect, id, audit)
      }),
    addToken: (token, audit) =>
      writeOnce(db, function* () {
        yield insertToken(token)
        yield insertAuditEntry(audit)
      }),
    async findQuotas(id) {
      const row = await db.first<StateRow>`
        select quotas as quotas_json from users where id = ${id}`
      return toQuotas(row?.quotas ?? null)
    },
    changeQuotas: (id, wanted, audit) =>
      db.write(() => changeQuotas(db.dialect.forUpdate, id, wanted, audit)),
    async findRevision() {
      const row = await db.first<{ value: string }>`
        select value from settings where name = ${markName}`
      return row?.value ?? ""
    },
    async listStates() {
      const rows = await db.read<StateRow>`
        select id, suspended_at, quotas as quotas_json from users where suspended_at is not null or quotas is not null`
      return rows.map(toState)
    },
    async listPendingPurges() {
      const rows = await db.read<{ id: string }>`
        select id from users where purge_at is not null limit ${purgesMax}`
      return rows.map(({ id }) => id)
    },
    purge: (id, at, countMax) => purgeAccount(db, id, at, countMax),
  }
}

/** Deletes sessions and sign-in links. A remaining link would create a session that is refused. */
function* suspend(id: string, audit: AuditEntry): Script<boolean> {
  yield sql`delete from tokens where user_id = ${id} and kind = 'link'`
  return yield* change(
    sql`suspended_at = coalesce(suspended_at, ${audit.at})`,
    sql`id = ${id}`,
    audit,
  )
}

/** In parts: a join would let PostgreSQL read the secrets of all users. */
function* deleteValSecrets(ownerId: string): Script<void> {
  const rowsMax = 500
  for (;;) {
    const found = yield* rows<{ readonly id: string }>`select v.id from vals v
      where v.owner_id = ${ownerId} and (select 1 from val_secrets s where s.val_id = v.id limit 1) = 1
      limit ${rowsMax}`
    if (found.length === 0) return
    yield sql`delete from val_secrets where val_id in (${list(found.map((row) => row.id))})`
  }
}

function* close(dialect: Dialect, id: string, audit: AuditEntry): Script<boolean> {
  yield* assertNotLastOwner(dialect, id)
  yield sql`delete from authorizations where user_id = ${id}`
  yield sql`delete from oauth_codes where user_id = ${id}`
  yield sql`delete from tokens where user_id = ${id} or owner_id = ${id}`
  yield sql`delete from memberships where user_id = ${id} or org_id = ${id}`
  yield sql`delete from identities where user_id = ${id}`
  yield sql`delete from secrets where user_id = ${id}`
  yield* deleteValSecrets(id)
  yield sql`delete from invitations where creator_id = ${id}`
  yield sql`delete from email_codes where user_id = ${id}`
  return yield* change(
    sql`suspended_at = coalesce(suspended_at, ${audit.at}), deleted_at = coalesce(deleted_at, ${audit.at}),
      email = null, email_verified_at = null, bio = null, profile_image_url = null, secrets_version = secrets_version + 1`,
    sql`id = ${id}`,
    audit,
  )
}

function* change(assignments: Statement, condition: Statement, audit: AuditEntry): Script<boolean> {
  const changed = yield* firstRow`
    update users set ${assignments} where ${condition} returning id`
  if (!changed) return false
  yield* noteChange(audit)
  return true
}

function* noteChange(audit: AuditEntry): Statements<void> {
  yield insertAuditEntry(audit)
  yield markChange(audit)
}

function* changeQuotas(
  forUpdate: Statement,
  id: string,
  wanted: Partial<Quotas>,
  audit: AuditEntry,
): Script<Quotas | undefined> {
  const row = yield* firstRow<StateRow>`
    select quotas as quotas_json from users where id = ${id} ${forUpdate}`
  if (!row) return undefined
  const named = Object.fromEntries(
    Object.entries(wanted).filter(([, value]) => value !== undefined),
  )
  const quotas: Quotas = { ...noQuotas, ...toQuotas(row.quotas), ...named }
  const isNone = Object.values(quotas).every((value) => value === null)
  yield sql`update users set quotas = ${isNone ? null : toOwnJson(quotas)} where id = ${id}`
  yield* noteChange(audit)
  return quotas
}

function toState(row: StateRow): AccountState {
  return { userId: row.id, isSuspended: row.suspendedAt !== null, quotas: toQuotas(row.quotas) }
}

function toQuotas(stored: Partial<Quotas> | null): Quotas | undefined {
  return stored === null ? undefined : { ...noQuotas, ...stored }
}

/** The setting that changes when nodes must read the states of accounts again. */
const markName = "accounts_mark"

/** Lets all nodes read the states of accounts again; the id of the entry is unique. */
export function markChange(audit: AuditEntry): Statement {
  return sql`insert into settings (name, value) values (${markName}, ${audit.id}) on conflict (name) do update set value = excluded.value`
}
