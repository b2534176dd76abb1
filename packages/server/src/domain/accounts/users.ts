import { makeOnce } from "../../shared/once.ts"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { Page, PageRequest } from "../paging.ts"
import type { Val, ValStore } from "../vals/vals.ts"
import { type AuditEntry, toAuditEntry } from "./audit.ts"
import {
  allScopes,
  makeToken,
  type NewTokenRecord,
  ordinaryScopes,
  type TokenDeps,
} from "./tokens.ts"

/** A user, who owns vals. */
export interface User {
  readonly id: string
  readonly username: string
  readonly email: string | null
  /** Whether the user has confirmed the address, or an administrator has set it. */
  readonly isEmailVerified: boolean
  readonly bio: string | null
  readonly profileImageUrl: string | null
  readonly tier: string | null
  readonly createdAt: number
}

/** The fields that users may change of their own record. Undefined fields stay as they are. */
export interface ProfileChange {
  readonly bio?: string | null | undefined
  readonly email?: string | null | undefined
  /** When a new address counts as confirmed; null until it is. */
  readonly emailVerifiedAt?: number | null
}

/** Stores users. */
export interface UserStore {
  findById(id: string): Promise<User | undefined>
  findByName(username: string): Promise<User | undefined>
  /**
   * The administrator: the oldest user with an admin token, or else the oldest user. Suspended
   * users are skipped.
   */
  findFirst(): Promise<User | undefined>
  /** Adds the user and its first token. Returns false, and adds neither, when the name is taken. */
  add(user: User, token: NewTokenRecord, audit?: AuditEntry): Promise<boolean>
  /** As `add`, but only if there is no user yet. Two nodes may try at the same time. */
  addFirst(user: User, token: NewTokenRecord): Promise<boolean>
  /** Undefined when there is no such user. */
  change(id: string, change: ProfileChange): Promise<User | undefined>
  /** Sets the address as confirmed. Undefined when there is no such user. */
  setEmail(id: string, email: string | null, audit: AuditEntry): Promise<User | undefined>
}

/** What the rules of users need. */
export interface UserDeps extends TokenDeps {
  readonly users: UserStore
  readonly vals: ValStore
  /** Whether the isolation is too weak for more than one user. */
  isForOneUser(): boolean
}

/** Returns the caller's own record. */
export async function getMe(deps: Pick<UserDeps, "users">, caller: Caller): Promise<User> {
  return getUser(deps, caller.userId)
}

/**
 * Changes the caller's own record. A new email address has to be confirmed, except that of an
 * administrator.
 */
export async function updateMe(
  deps: Pick<UserDeps, "users" | "now">,
  caller: Caller,
  { bio, email }: Pick<ProfileChange, "bio" | "email">,
): Promise<User> {
  const emailVerifiedAt = caller.scopes.has("admin") ? deps.now() : null
  const user = await deps.users.change(caller.userId, { bio, email, emailVerifiedAt })
  if (!user) throw userNotFound(caller.userId)
  return user
}

/** Returns a user by id. */
export async function getUser(deps: Pick<UserDeps, "users">, id: string): Promise<User> {
  const user = await deps.users.findById(id)
  if (!user) throw userNotFound(id)
  return user
}

/** Returns a user by name, with or without `@`. */
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

/** Lists the vals of a user that the viewer may see in lists. */
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
 * Creates a user with a first token, which has all scopes except the administrative ones. A
 * creation by an administrator is in the audit log.
 */
export async function createUser(
  deps: UserDeps,
  input: { readonly username: string; readonly email: string | null },
  caller?: Caller,
): Promise<{ readonly user: User; readonly token: string }> {
  assertManyUsers(deps, input.username)
  const user = {
    ...toNewUser(deps, input.username, input.email),
    isEmailVerified: input.email !== null,
  }
  const { record, text } = makeToken(deps, user.id, {
    name: "first token",
    scopes: ordinaryScopes,
    expiresAt: null,
  })
  const audit =
    caller && toAuditEntry(deps, caller, "user.create", { id: user.id, name: user.username })
  if (!(await deps.users.add(user, record, audit)))
    throw new AppError(
      "username_taken",
      `Cannot create user "${input.username}": another user has that name`,
    )
  return { user, token: text }
}

/** Throws where the isolation of vals is too weak for the code of several people. */
export function assertManyUsers(deps: Pick<UserDeps, "isForOneUser">, username: string): void {
  if (!deps.isForOneUser()) return
  throw new AppError(
    "one_user_only",
    `Cannot create user "${username}": vals are isolated by Deno's permissions alone, which is for one person's own code; the operator can install bubblewrap, or set HAMLET_ISOLATION=deno`,
  )
}

/** Creates the first user if there is none. The token is returned only then, to be shown once. */
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
  // From this start on, the token of the setting is valid and the previous one is not.
  if (input.token !== undefined)
    await deps.tokens.replaceSettingToken({ ...record, userId: user.id })
  return { user, isNew, token: isNew && input.token === undefined ? text : undefined }
}

/** A user to be stored, whose address is not confirmed. */
export function toNewUser(
  deps: Pick<TokenDeps, "newId" | "now">,
  username: string,
  email: string | null,
): User {
  const { id, createdAt } = makeOnce(() => ({ id: deps.newId(), createdAt: deps.now() }))
  return {
    ...{ id, username, email, isEmailVerified: false },
    ...{ bio: null, profileImageUrl: null, tier: null, createdAt },
  }
}
