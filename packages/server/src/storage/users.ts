import type { NewTokenRecord } from "../domain/tokens.ts"
import type { ProfileChange, User, UserStore } from "../domain/users.ts"
import { type Database, firstRow, type Script } from "./database.ts"
import type { Dialect } from "./dialect.ts"
import { limitTo, toSlice } from "./slices.ts"
import { raw, type Statement, sql } from "./sql.ts"
import { insertToken } from "./tokens.ts"
import { writeOnce } from "./write-once.ts"

interface UserRow {
  readonly id: string
  readonly username: string
  readonly email: string | null
  readonly bio: string | null
  readonly profile_image_url: string | null
  readonly tier: string | null
  readonly created_at: number | string
}

const userColumns = raw("id, username, email, bio, profile_image_url, tier, created_at")

/** Users in the database. */
export function createUserStore(db: Database): UserStore {
  const select = (rest: Statement) => db.read<UserRow>(sql`select ${userColumns} from users ${rest}`)
  const find = async (rest: Statement) => {
    const [row] = await select(rest)
    return row && toUser(row)
  }
  return {
    findById: (id) => find(sql`where id = ${id}`),
    findByName: (username) => find(sql`where username_key = ${username.toLowerCase()}`),
    // Ids are UUIDs of version 7, which begin with the time.
    findFirst: () => find(sql`order by id limit 1`),
    list: async (page) => toSlice(await select(sql`order by id desc ${limitTo(page)}`), page, toUser),
    add: (user, token) => writeOnce(db, () => addUser(user, token)),
    addFirst: (user, token) => db.write(() => addFirstUser(db.dialect, user, token)),
    change: (id, change) => db.write(() => changeUser(id, change)),
  }
}

function* addUser(user: User, token: NewTokenRecord): Script<boolean> {
  const added = yield* firstRow(sql`
    insert into users (id, username, username_key, email, bio, profile_image_url, tier, created_at)
    values (${user.id}, ${user.username}, ${user.username.toLowerCase()}, ${user.email}, ${user.bio}, ${user.profileImageUrl}, ${user.tier}, ${user.createdAt})
    on conflict (username_key) do nothing returning id`)
  if (!added) return false
  yield insertToken(token)
  return true
}

function* changeUser(id: string, { bio, email }: ProfileChange): Script<User | undefined> {
  const row = yield* firstRow<UserRow>(sql`
    update users set bio = ${bio === undefined ? raw("bio") : sql`${bio}`}, email = ${email === undefined ? raw("email") : sql`${email}`}
    where id = ${id} returning ${userColumns}`)
  return row && toUser(row)
}

function* addFirstUser(dialect: Dialect, user: User, token: NewTokenRecord): Script<boolean> {
  yield* dialect.lockName("the first user")
  const somebody = yield* firstRow(sql`select id from users limit 1`)
  return somebody === undefined && (yield* addUser(user, token))
}

function toUser(row: UserRow): User {
  return {
    id: row.id,
    username: row.username,
    email: row.email,
    bio: row.bio,
    profileImageUrl: row.profile_image_url,
    tier: row.tier,
    createdAt: Number(row.created_at),
  }
}
