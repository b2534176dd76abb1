import { makeOnce } from "../../shared/once.ts"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { Page, PageRequest } from "../paging.ts"
import type { Val, ValStore } from "../vals/vals.ts"
import { type AuditEntry, toAuditEntry } from "./audit.ts"
import { allScopes, makeToken, type NewTokenRecord, type TokenDeps } from "./tokens.ts"

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
  /**
   * The user who administers: of those with a token for it, or else of all, the one who was there
   * first and is not suspended.
   */
  findFirst(): Promise<User | undefined>
  /** Adds the user with their first token, or neither: false when somebody has the name. */
  add(user: User, token: NewTokenRecord, audit?: AuditEntry): Promise<boolean>
  /** The same, but only if there is no user at all yet; two nodes may try at the same time. */
  addFirst(user: User, token: NewTokenRecord): Promise<boolean>
  /** Undefined when there is no such user. */
  change(id: string, change: ProfileChange): Promise<User | undefined>
}

/** What the rules of users need. */
export interface UserDeps extends TokenDeps {
  readonly users: UserStore
  readonly vals: ValStore
  /** Whether vals are isolated so weakly that there must be nobody else. */
  isForOneUser(): boolean
}

/** The caller's own record. */
export async function getMe(deps: Pick<UserDeps, "users">, caller: Caller): Promise<User> {
  return getUser(deps, caller.userId)
}

/** Changes the caller's own record. */
export async function updateMe(
  deps: Pick<UserDeps, "users">,
  caller: Caller,
  change: ProfileChange,
): Promise<User> {
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
export async function getUserByName(
  deps: Pick<UserDeps, "users">,
  username: string,
): Promise<User> {
  const user = await deps.users.findByName(username.replace(/^@/, ""))
  if (!user) throw userNotFound(username)
  return user
}

function userNotFound(which: string): AppError {
  return new AppError("user_not_found", `Cannot find user "${which}"`)
}

/** The vals of a user that the viewer may find. */
export async function listUserVals(
  deps: Pick<UserDeps, "users" | "vals">,
  caller: Caller | undefined,
  userId: string,
  page: PageRequest,
): Promise<Page<Val>> {
  await getUser(deps, userId)
  return deps.vals.list(caller?.userId, { ownerId: userId }, page)
}

/**
 * A new user with a first token, which has every scope but those about other users. Where an
 * administrator makes them, the audit log says so.
 */
export async function createUser(
  deps: UserDeps,
  input: { readonly username: string; readonly email: string | null },
  caller?: Caller,
): Promise<{ readonly user: User; readonly token: string }> {
  assertManyUsers(deps, input.username)
  const user = toNewUser(deps, input.username, input.email)
  const scopes = allScopes.filter((scope) => scope !== "admin" && scope !== "backup")
  const { record, text } = makeToken(deps, user.id, {
    name: "first token",
    scopes,
    expiresAt: null,
  })
  const audit =
    caller && toAuditEntry(deps, caller, "user.create", { id: user.id, name: user.username })
  if (!(await deps.users.add(user, record, audit)))
    throw new AppError(
      "username_taken",
      `Cannot create user "${input.username}": somebody has that name`,
    )
  return { user, token: text }
}

/** Refuses another user where vals are not isolated well enough for the code of several people. */
export function assertManyUsers(deps: Pick<UserDeps, "isForOneUser">, username: string): void {
  if (!deps.isForOneUser()) return
  throw new AppError(
    "one_user_only",
    `Cannot create user "${username}": vals are isolated by Deno's permissions alone, which is for one person's own code; the operator can install bubblewrap, or set HAMLET_ISOLATION=deno`,
  )
}

/**
 * Makes sure that there is a first user. The token is undefined when the user was there before, so
 * that it is shown once.
 */
export async function ensureFirstUser(
  deps: UserDeps,
  input: { readonly username: string; readonly token: string | undefined },
): Promise<{ readonly user: User; readonly isNew: boolean; readonly token: string | undefined }> {
  const first = toNewUser(deps, input.username, null)
  const rights = {
    name: input.token === undefined ? "first token" : "token of the setting",
    scopes: allScopes,
    expiresAt: null,
  }
  const { record, text } = makeToken(deps, first.id, rights, input.token)
  const isNew = await deps.users.addFirst(first, record)
  const user = isNew ? first : ((await deps.users.findFirst()) ?? first)
  // The token that the operator chose holds from this start on, and the one that was chosen before
  // does not.
  if (input.token !== undefined)
    await deps.tokens.replaceSettingToken({ ...record, userId: user.id })
  return { user, isNew, token: isNew && input.token === undefined ? text : undefined }
}

/** A user who is about to be kept. */
export function toNewUser(
  deps: Pick<TokenDeps, "newId" | "now">,
  username: string,
  email: string | null,
): User {
  const { id, createdAt } = makeOnce(() => ({ id: deps.newId(), createdAt: deps.now() }))
  return { id, username, email, bio: null, profileImageUrl: null, tier: null, createdAt }
}
