import type { Scope } from "@hamlet/contract"
import {
  createBatchLookup,
  createExactCache,
  type Database,
  type Dialect,
  newestFirst,
  raw,
  readPage,
  type Script,
  type Statement,
  sql,
} from "@hamlet/database"
import type { FoundToken, NewTokenRecord, Token, TokenStore } from "../../domain/accounts/tokens.ts"
import { rolesOf, toRoles } from "../access/roles.ts"
import { isLive } from "../claims/node-claims.ts"
import { writeOnce } from "./write-once.ts"

type HolderRow = Omit<FoundToken, "scopes" | "roles"> & {
  readonly scopes: readonly Scope[]
  readonly roles: readonly string[]
}

const holderColumns = raw(
  `t.id as token_id, t.hash as hash_hex, t.scopes as scopes_words, t.expires_at, t.last_used_at, t.user_id, u.username,
  case when u.suspended_at is null then 0 else 1 end as is_suspended, case when t.node_id is null then 0 else 1 end as is_of_run,
  t.val_id, t.owner_id, ow.username as owner_name, t.kind, t.parent_id, p.expires_at as parent_expires_at, ${rolesOf("t.user_id")} as roles_words`,
)
const limits = { keysMax: 100, cachedMax: 10_000 }

/** Tokens in the database. */
export function createTokenStore(db: Database): TokenStore {
  return {
    findHolder: createFindHolder(db),
    list: (userId, page) =>
      readPage<Token>(db, page, newestFirst)`
        select id, name, scopes as scopes_words, created_at, expires_at, last_used_at from tokens
        where user_id = ${userId} and kind = 'token' and node_id is null and authorization_id is null`,
    add: (token) =>
      writeOnce(db, function* () {
        yield insertToken(token)
      }),
    replaceSettingToken: (token) => db.write(() => replaceSettingToken(db.dialect, token)),
    remove: (userId, id) =>
      db.change`
        delete from tokens where user_id = ${userId} and id = ${id} and kind = 'token' and node_id is null and authorization_id is null returning id`,
    touch: (uses) =>
      db.write(function* () {
        for (const [id, at] of [...uses].sort())
          yield sql`update tokens set last_used_at = ${at} where id = ${id}`
      }),
    changeRunTokens: (nodeId, added, removedIds) =>
      db.write(function* () {
        for (const token of added) yield insertToken(token, nodeId)
        for (const id of [...removedIds].sort())
          yield sql`delete from tokens where id = ${id} and node_id = ${nodeId}`
      }),
    removeRunTokensOf: (nodeId) => db.run`delete from tokens where node_id = ${nodeId}`,
    removeLostRunTokens: () =>
      db.run`
        delete from tokens where node_id is not null and not ${isLive(raw("tokens.node_id"))}`,
  }
}

/**
 * Inserts a token; an existing one stays as it is. `nodeId` is the node of the run that the token
 * belongs to, `authorizationId` what a user has allowed the client that gets it.
 */
export function insertToken(
  token: NewTokenRecord,
  nodeId: string | null = null,
  authorizationId: string | null = null,
): Statement {
  return sql`insert into tokens (id, user_id, hash, name, scopes, created_at, expires_at, node_id, authorization_id, val_id, owner_id)
    values (${token.id}, ${token.userId}, ${Buffer.from(token.hash, "hex")}, ${token.name}, ${token.scopes.join(" ")}, ${token.createdAt}, ${token.expiresAt},
      ${nodeId}, ${authorizationId}, ${token.valId ?? null}, ${token.ownerId ?? null})
    on conflict (hash) do nothing`
}

/**
 * Replaces the token of the server's setting. Nodes that start together take turns, so that one
 * token remains.
 */
function* replaceSettingToken(dialect: Dialect, token: NewTokenRecord): Script<void> {
  const hash = Buffer.from(token.hash, "hex")
  yield* dialect.lockName("the token of the setting")
  yield sql`delete from tokens where is_from_setting = 1 and hash <> ${hash}`
  yield insertToken(token)
  yield sql`update tokens set is_from_setting = 1 where hash = ${hash} and user_id = ${token.userId} and kind = 'token' and node_id is null`
}

/**
 * Every request with a token depends on the current state of the database, so that a revoked token
 * stops working at once, on every node.
 */
function createFindHolder(db: Database): TokenStore["findHolder"] {
  const { gather } = db.dialect
  const select = sql`select ${holderColumns} from tokens t join users u on u.id = t.user_id left join tokens p on p.id = t.parent_id left join users ow on ow.id = t.owner_id`
  const find = async (hash: string) => {
    const row = await db.first<HolderRow>`
      ${select} where t.hash = ${Buffer.from(hash, "hex")}`
    return row && toHolder(row)
  }
  if (!gather) return createExactCache(db, find, { weightMax: limits.cachedMax }, () => 1)
  return createBatchLookup<string, FoundToken>(async (hashes) => {
    const keys = hashes.map((hash) => Buffer.from(hash, "hex"))
    const rows = await db.read<HolderRow>`${select} where ${gather.isAnyBytes("t.hash", keys)}`
    return new Map(rows.map(toHolder).map((holder) => [holder.hash, holder]))
  }, limits)
}

function toHolder({ scopes, roles, ...row }: HolderRow): FoundToken {
  return { ...row, scopes: new Set(scopes), roles: toRoles(row.userId, row.isOfRun ? [] : roles) }
}
