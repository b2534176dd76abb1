import { AppError } from "./app-error.ts"
import type { Caller } from "./caller.ts"
import type { Page, Slice } from "./paging.ts"
import { hasTokenShape } from "./token-text.ts"
import { allScopes, issueToken, makeToken, type NewTokenRecord, type TokenDeps } from "./tokens.ts"
import type { Val, ValStore } from "./vals.ts"

/** Somebody who has vals. */
export interface User {
  readonly id: string
  readonly username: string
  readonly email: string | null
  readonly bio: string | null
  readonly profileImageUrl: string | null
  readonly tier: string | null
  readonly createdAt: number
}

/** What users may change of their own record; what is undefined stays as it is. */
export interface ProfileChange {
  readonly bio?: string | null | undefined
  readonly email?: string | null | undefined
}

/** Where users are kept. */
export interface UserStore {
  findById(id: string): Promise<User | undefined>
  findByName(username: string): Promise<User | undefined>
  /** The user who was there first. */
  findFirst(): Promise<User | undefined>
  /** Everybody, newest first. */
  list(page: Page): Promise<Slice<User>>
  /** Adds the user with their first token, or neither: false when somebody has the name. */
  add(user: User, token: NewTokenRecord): Promise<boolean>
  /** The same, but only if there is no user at all yet; two nodes may try at the same time. */
  addFirst(user: User, token: NewTokenRecord): Promise<boolean>
  /** Undefined when there is no such user. */
  change(id: string, change: ProfileChange): Promise<User | undefined>
}

/** What the rules of users need. */
export interface UserDeps extends TokenDeps {
  readonly users: UserStore
  readonly vals: ValStore
}

/** The caller's own record. */
export async function getMe(deps: Pick<UserDeps, "users">, caller: Caller): Promise<User> {
  return getUser(deps, caller.userId)
}

/** Changes the caller's own record. */
export async function updateMe(deps: Pick<UserDeps, "users">, caller: Caller, change: ProfileChange): Promise<User> {
  const user = await deps.users.change(caller.userId, change)
  if (!user) throw userNotFound(caller.userId)
  return user
}

/** A user by id. */
export async function getUser(deps: Pick<UserDeps, "users">, id: string): Promise<User> {
  const user = await deps.users.findById(id)
  if (!user) throw userNotFound(id)
  return user
}

/** A user by name, with or without `@`. */
export async function getUserByName(deps: Pick<UserDeps, "users">, username: string): Promise<User> {
  const user = await deps.users.findByName(username.replace(/^@/, ""))
  if (!user) throw userNotFound(username)
  return user
}

function userNotFound(which: string): AppError {
  return new AppError("user_not_found", `Cannot find user "${which}"`)
}

/** Everybody, for whoever administers. */
export async function listUsers(deps: Pick<UserDeps, "users">, page: Page): Promise<Slice<User>> {
  return deps.users.list(page)
}

/** The vals of a user that the viewer may find. */
export async function listUserVals(
  deps: Pick<UserDeps, "users" | "vals">,
  caller: Caller | undefined,
  userId: string,
  page: Page,
): Promise<Slice<Val>> {
  await getUser(deps, userId)
  return deps.vals.list(caller?.userId, { ownerId: userId }, page)
}

/** A new user with a first token, which has every scope but `admin`. */
export async function createUser(
  deps: UserDeps,
  input: { readonly username: string; readonly email: string | null },
): Promise<{ readonly user: User; readonly token: string }> {
  const user = toUser(deps, input.username, input.email)
  const scopes = allScopes.filter((scope) => scope !== "admin")
  const { record, text } = makeToken(deps, user.id, { name: "first token", scopes, expiresAt: null })
  if (!(await deps.users.add(user, record)))
    throw new AppError("username_taken", `Cannot create user "${input.username}": somebody has that name`)
  return { user, token: text }
}

/** Makes sure that there is a first user. The token is undefined when the user was there before, so that it is shown once. */
export async function ensureFirstUser(
  deps: UserDeps,
  input: { readonly username: string; readonly token: string | undefined },
): Promise<{ readonly user: User; readonly isNew: boolean; readonly token: string | undefined }> {
  if (input.token !== undefined) assertUsable(input.token)
  const first = toUser(deps, input.username, null)
  const rights = { name: "first token", scopes: allScopes, expiresAt: null }
  const { record, text } = makeToken(deps, first.id, rights, input.token)
  if (await deps.users.addFirst(first, record)) return { user: first, isNew: true, token: input.token === undefined ? text : undefined }
  const user = (await deps.users.findFirst()) ?? first
  // What the operator chose holds from this start on, whoever was there before.
  if (input.token !== undefined) await issueToken(deps, user.id, rights, input.token)
  return { user, isNew: false, token: undefined }
}

/** A text with our prefix and a wrong checksum is refused wherever it is sent, so it would be no use to anybody. */
function assertUsable(token: string): void {
  if (hasTokenShape(token)) return
  throw new AppError(
    "invalid_token",
    "Cannot use the token of the first user: it begins with hamlet_, but is none that Hamlet made, or is mistyped",
  )
}

function toUser(deps: TokenDeps, username: string, email: string | null): User {
  return { id: deps.newId(), username, email, bio: null, profileImageUrl: null, tier: null, createdAt: deps.now() }
}
