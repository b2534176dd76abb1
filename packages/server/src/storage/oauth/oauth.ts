import {
  beyond,
  type Database,
  type Dialect,
  firstRow,
  newestOf,
  raw,
  readPage,
  type Script,
  sql,
} from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import type {
  AuthorizationCode,
  ClientAuthorization,
  IssuedTokens,
  NewAuthorization,
  OAuthBounds,
  OAuthClient,
  OAuthStore,
  Redemption,
  WaitingDevice,
} from "../../domain/oauth/oauth.ts"
import { insertToken } from "../accounts/tokens.ts"

type AuthorizationRow = ClientAuthorization & {
  readonly userId: string
  readonly clientId: string
}

type CodeRow = AuthorizationCode & {
  readonly authorizationId: string | null
  readonly clientName: string
}

const authorizationColumns = raw(
  "a.id, a.user_id, a.client_id, a.client_name, a.scopes as scopes_words, a.created_at, a.last_used_at, a.expires_at",
)

/** Clients and authorizations in the database. */
export function createOAuthStore(db: Database): OAuthStore {
  const { dialect } = db
  return {
    addClient: (client, staleBefore, countMax) =>
      db.write(() => addClient(dialect, client, staleBefore, countMax)),
    findClient: (id) =>
      db.first<OAuthClient>`
        select id, name, redirect_uris as redirect_uris_json, created_at from oauth_clients where id = ${id}`,
    addCode: (code, at) => db.write(() => addCode(code, at)),
    addDevice: (device, client, at, countMax) =>
      db.write(() => addDevice(dialect, device, client, at, countMax)),
    findDevice: (userCode, at) =>
      db.first<WaitingDevice>`
        select hash as hash_hex, user_code, scope, expires_at from oauth_devices
        where user_code = ${userCode} and expires_at > ${at}`,
    async isWaiting(hash, at) {
      const rows = await db.read`
        select 1 as found from oauth_devices
        where hash = ${Buffer.from(hash, "hex")} and expires_at > ${at}`
      return rows.length > 0
    },
    allowDevice: (code, at) =>
      db.write(function* () {
        const waited = yield* firstRow`
          delete from oauth_devices where hash = ${Buffer.from(code.hash, "hex")} and expires_at > ${at}
          returning user_code`
        return waited !== undefined && (yield* addCode(code, at))
      }),
    redeemCode: (hash, issue, bounds) => db.write(() => redeemCode(dialect, hash, issue, bounds)),
    rotate: (hash, issue, bounds) => db.write(() => rotate(dialect, hash, issue, bounds)),
    revokeToken: (hash, clientId) => db.write(() => revokeToken(hash, clientId)),
    list: (userId, at, page) =>
      readPage<ClientAuthorization>(db, page, newestOf("a."))`
        select ${authorizationColumns} from authorizations a where a.user_id = ${userId} and a.expires_at > ${at}`,
    remove: (userId, id) =>
      db.change`
        delete from authorizations where user_id = ${userId} and id = ${id} returning id`,
  }
}

/** Registrations take turns, so that together they stay within the limit. */
function* addClient(
  dialect: Dialect,
  client: OAuthClient,
  staleBefore: number,
  countMax: number,
): Script<boolean> {
  yield* dialect.lockName("the clients of OAuth")
  yield sql`delete from oauth_clients where last_used_at is null and created_at < ${staleBefore}`
  const count = yield* firstRow<{ count: number }>`select count(*) as count from oauth_clients`
  if ((count?.count ?? 0) >= countMax) {
    const evicted = yield* firstRow`
      delete from oauth_clients where id = (
        select id from oauth_clients where last_used_at is null order by created_at, id limit 1)
      returning id`
    if (!evicted) return false
  }
  const { id, name, redirectUris, createdAt } = client
  yield sql`insert into oauth_clients (id, name, redirect_uris, created_at)
    values (${id}, ${name}, ${toOwnJson(redirectUris)}, ${createdAt})`
  return true
}

/** Devices take turns as registrations do. */
function* addDevice(
  dialect: Dialect,
  { hash, userCode, scope, expiresAt }: WaitingDevice,
  client: OAuthClient,
  at: number,
  countMax: number,
): Script<boolean> {
  yield* dialect.lockName("the clients of OAuth")
  yield sql`delete from oauth_devices where expires_at <= ${at}`
  const count = yield* firstRow<{ count: number }>`select count(*) as count from oauth_devices`
  if ((count?.count ?? 0) >= countMax) return false
  yield sql`insert into oauth_clients (id, name, redirect_uris, created_at, last_used_at)
    values (${client.id}, ${client.name}, ${toOwnJson(client.redirectUris)}, ${at}, ${at})
    on conflict (id) do nothing`
  const added = yield* firstRow`
    insert into oauth_devices (hash, user_code, scope, expires_at)
    values (${Buffer.from(hash, "hex")}, ${userCode}, ${scope}, ${expiresAt})
    on conflict (user_code) do nothing returning user_code`
  return added !== undefined
}

/** Codes that have expired are deleted on the way. */
function* addCode(code: AuthorizationCode, at: number): Script<boolean> {
  yield sql`delete from oauth_codes where expires_at <= ${at}`
  // A registration that takes place now may have deleted the client.
  const client = yield* firstRow`
    update oauth_clients set last_used_at = ${at} where id = ${code.clientId} returning id`
  if (!client) return false
  yield sql`insert into oauth_codes (hash, client_id, user_id, redirect_uri, challenge, scopes, expires_at)
    values (${Buffer.from(code.hash, "hex")}, ${code.clientId}, ${code.userId}, ${code.redirectUri}, ${code.challenge},
      ${code.scopes.join(" ")}, ${code.expiresAt})`
  return true
}

function* redeemCode<Issued extends { authorization: NewAuthorization; tokens: IssuedTokens }>(
  dialect: Dialect,
  hash: string,
  issue: (code: AuthorizationCode & { clientName: string }) => Issued | undefined,
  bounds: OAuthBounds,
): Script<Redemption<Issued>> {
  const key = Buffer.from(hash, "hex")
  // The second of two concurrent uses waits here and finds that the code was redeemed.
  const locked = yield* firstRow`
    select hash from oauth_codes where hash = ${key} ${dialect.forUpdate}`
  if (!locked) return "unknown"
  const row = yield* firstRow<CodeRow>`
    select c.hash as hash_hex, c.client_id, c.user_id, c.redirect_uri, c.challenge, c.scopes as scopes_words, c.expires_at, c.authorization_id, o.name as client_name
    from oauth_codes c join oauth_clients o on o.id = c.client_id join users u on u.id = c.user_id
    where c.hash = ${key} and u.suspended_at is null`
  if (!row) return "unknown"
  if (row.authorizationId !== null) {
    yield sql`delete from authorizations where id = ${row.authorizationId}`
    return "reused"
  }
  const issued = issue(row)
  if (!issued) return "unknown"
  const { authorization: it, tokens } = issued
  yield sql`insert into authorizations (id, user_id, client_id, client_name, scopes, created_at, last_used_at, expires_at)
    values (${it.id}, ${it.userId}, ${it.clientId}, ${it.clientName}, ${it.scopes.join(" ")}, ${it.createdAt}, ${it.lastUsedAt}, ${it.expiresAt})`
  yield sql`update oauth_codes set authorization_id = ${it.id} where hash = ${key}`
  yield sql`delete from authorizations where user_id = ${it.userId} and expires_at <= ${it.createdAt}`
  yield sql`delete from authorizations where id in (
    select id from authorizations where user_id = ${it.userId}
    order by last_used_at desc, id desc ${beyond(bounds.authorizationsPerUserMax)})`
  yield* addTokens(it.id, tokens, it.createdAt, bounds)
  return issued
}

function* rotate<Issued extends { tokens: IssuedTokens; at: number; expiresAt: number }>(
  dialect: Dialect,
  hash: string,
  issue: (authorization: NewAuthorization) => Issued | undefined,
  bounds: OAuthBounds,
): Script<Redemption<Issued>> {
  const key = Buffer.from(hash, "hex")
  const token = yield* firstRow<{ authorizationId: string; usedAt: number | null }>`
    select authorization_id, used_at from refresh_tokens where hash = ${key} ${dialect.forUpdate}`
  if (!token) return "unknown"
  if (token.usedAt !== null) {
    yield sql`delete from authorizations where id = ${token.authorizationId}`
    return "reused"
  }
  const row = yield* firstRow<AuthorizationRow>`
    select ${authorizationColumns} from authorizations a join users u on u.id = a.user_id
    where a.id = ${token.authorizationId} and u.suspended_at is null`
  const issued = row && issue(row)
  if (!issued) return "unknown"
  yield sql`update refresh_tokens set used_at = ${issued.at} where hash = ${key}`
  yield sql`update authorizations set last_used_at = ${issued.at}, expires_at = ${issued.expiresAt} where id = ${row.id}`
  yield* addTokens(row.id, issued.tokens, issued.at, bounds)
  return issued
}

/** Deletes access tokens that have expired, and the oldest if there are too many. */
function* addTokens(
  authorizationId: string,
  { refreshHash, access }: IssuedTokens,
  at: number,
  bounds: OAuthBounds,
): Script<void> {
  yield sql`insert into refresh_tokens (hash, authorization_id) values (${Buffer.from(refreshHash, "hex")}, ${authorizationId})`
  yield insertToken(access, null, authorizationId)
  // The refresh tokens used longest ago are forgotten; their second use is then merely refused.
  yield sql`delete from refresh_tokens where hash in (
    select hash from refresh_tokens where authorization_id = ${authorizationId} and used_at is not null
    order by used_at desc, hash ${beyond(bounds.refreshTokensMax)})`
  yield sql`delete from tokens where authorization_id = ${authorizationId} and expires_at <= ${at}`
  yield sql`delete from tokens where id in (
    select id from tokens where authorization_id = ${authorizationId}
    order by created_at desc, id desc ${beyond(bounds.accessTokensMax)})`
}

function* revokeToken(hash: string, clientId: string): Script<void> {
  const key = Buffer.from(hash, "hex")
  yield sql`delete from authorizations where cast(client_id as text) = ${clientId} and id in (
    select authorization_id from refresh_tokens where hash = ${key}
    union all select authorization_id from tokens where hash = ${key} and authorization_id is not null)`
}
