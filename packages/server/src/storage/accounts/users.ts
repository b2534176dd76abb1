import {
  type Database,
  type Dialect,
  firstRow,
  nothing,
  raw,
  type Script,
  type Statement,
  sql,
} from "@hamlet/database"
import type { AuditEntry } from "../../domain/accounts/audit.ts"
import type { NewTokenRecord } from "../../domain/accounts/tokens.ts"
import type { ProfileChange, User, UserStore } from "../../domain/accounts/users.ts"
import { insertAuditEntry } from "./audit.ts"
import { insertToken } from "./tokens.ts"
import { writeOnce } from "./write-once.ts"

/** The columns of a user. */
export const userColumns = raw(
  `id, username, case when kind = 'org' then 1 else 0 end as is_org, email, case when email is null or email_verified_at is null then 0 else 1 end as is_email_verified,
  bio, profile_image_url, tier, created_at`,
)

/** Users in the database. */
export function createUserStore(db: Database): UserStore {
  const find = (rest: Statement) => db.first<User>`select ${userColumns} from users ${rest}`
  return {
    findById: (id) => find(sql`where id = ${id}`),
    findByName: (username) => find(sql`where username_key = ${username.toLowerCase()}`),
    // Ids are version 7 UUIDs, which begin with the time.
    findFirst: () =>
      find(
        sql`where suspended_at is null and kind = 'user' order by case when ${administers} then 0 else 1 end, id limit 1`,
      ),
    add: (user, token, audit) => writeOnce(db, () => addUser(user, token, audit)),
    addFirst: (user, token) => db.write(() => addFirstUser(db.dialect, user, token)),
    change: (id, change) => db.write(() => changeUser(id, change)),
    setEmail: (id, email, audit) => db.write(() => setEmail(id, email, audit)),
  }
}

/** Whether a user has a token with the scope `admin`. */
const administers = raw(`exists (
  select 1 from tokens t where t.user_id = users.id and t.kind = 'token' and t.node_id is null and ' ' || t.scopes || ' ' like '% admin %')`)

/** Inserts a user with their first token. Inserts neither and returns false if the name is taken. */
export function* addUser(user: User, token: NewTokenRecord, audit?: AuditEntry): Script<boolean> {
  if (!(yield* insertUser(user))) return false
  yield insertToken(token)
  if (audit) yield insertAuditEntry(audit)
  return true
}

/** Inserts a user without a token. Returns false if the name is taken. */
export function* insertUser(user: User): Script<boolean> {
  const added = yield* firstRow`
    insert into users (id, username, username_key, kind, email, email_verified_at, bio, profile_image_url, tier, created_at)
    values (${user.id}, ${user.username}, ${user.username.toLowerCase()}, ${user.isOrg ? "org" : "user"}, ${user.email}, ${user.isEmailVerified ? user.createdAt : null}, ${user.bio}, ${user.profileImageUrl}, ${user.tier}, ${user.createdAt})
    on conflict (username_key) do nothing returning id`
  return added !== undefined
}

/** An address that stays the same stays confirmed. */
function* changeUser(
  id: string,
  { bio, email, emailVerifiedAt = null }: ProfileChange,
): Script<User | undefined> {
  return yield* firstRow<User>`
    update users set bio = ${bio === undefined ? raw("bio") : sql`${bio}`} ${toEmailChange(email, emailVerifiedAt)}
    where id = ${id} returning ${userColumns}`
}

function toEmailChange(email: string | null | undefined, verifiedAt: number | null): Statement {
  if (email === undefined) return nothing
  if (email === null) return raw(", email = null, email_verified_at = null")
  const at = verifiedAt === null ? raw("null") : sql`${verifiedAt}`
  return sql`, email = ${email}, email_verified_at = case when email = ${email} then coalesce(email_verified_at, ${at}) else ${at} end`
}

function* setEmail(id: string, email: string | null, audit: AuditEntry): Script<User | undefined> {
  const user = yield* firstRow<User>`
    update users set email = ${email}, email_verified_at = ${email === null ? null : audit.at}
    where id = ${id} and deleted_at is null returning ${userColumns}`
  if (!user) return undefined
  yield insertAuditEntry({ ...audit, subject: { id, name: user.username } })
  return user
}

function* addFirstUser(dialect: Dialect, user: User, token: NewTokenRecord): Script<boolean> {
  yield* dialect.lockName("the first user")
  const somebody = yield* firstRow`select id from users limit 1`
  return somebody === undefined && (yield* addUser(user, token))
}
