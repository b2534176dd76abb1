import { makeOnce } from "@hamlet/kit"
import type { Caller } from "../access/caller.ts"
import { roleTooLow } from "../access/rights.ts"
import { isAtLeast } from "../access/roles.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import { type AuditEntry, toAuditEntry } from "./audit.ts"
import {
  allScopes,
  makeToken,
  type NewTokenRecord,
  ordinaryScopes,
  type TokenStore,
} from "./tokens.ts"

/** A user or an organisation, which owns vals. */
export interface User {
  readonly id: string
  readonly username: string
  /** Whether it is an organisation, to which people belong. */
  readonly isOrg: boolean
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
  /**
   * Adds the user and its first token, but only if there is no user yet. Two nodes may try at the
   * same time.
   */
  addFirst(user: User, token: NewTokenRecord): Promise<boolean>
  /** Undefined when there is no such user. */
  change(id: string, change: ProfileChange): Promise<User | undefined>
  /** Sets the address as confirmed. Undefined when there is no such user. */
  setEmail(id: string, email: string | null, audit: AuditEntry): Promise<User | undefined>
}

/** The rules of users. */
export type Users = ReturnType<typeof createUsers>

/** Creates the rules of users. `isForOneUser`: the isolation is too weak for more than one. */
export function createUsers(
  store: UserStore,
  tokens: TokenStore,
  isForOneUser: () => boolean,
  clock: Clock,
) {
  /** Throws where the isolation of vals is too weak for the code of several people. */
  const assertMany = (username: string) => {
    if (!isForOneUser()) return
    throw new AppError(
      "one_user_only",
      `Cannot create user "${username}": vals are isolated by Deno's permissions alone, which is for one person's own code; the operator can install bubblewrap, or set HAMLET_ISOLATION=deno`,
    )
  }
  return {
    assertMany,
    /** Returns a user by id. */
    async get(id: string): Promise<User> {
      const user = await store.findById(id)
      if (!user) throw userNotFound(id)
      return user
    },
    /** Returns a user by name, with or without `@`. */
    async getByName(username: string): Promise<User> {
      const user = await store.findByName(username.replace(/^@/, ""))
      if (!user) throw userNotFound(username)
      return user
    },
    /**
     * Changes the caller's own record. A new email address has to be confirmed, except that of an
     * administrator.
     */
    async updateMe(caller: Caller, { bio, email }: Pick<ProfileChange, "bio" | "email">) {
      if (caller.ownerId !== caller.actorId) assertOrgProfile(caller, email)
      const emailVerifiedAt = caller.scopes.has("admin") ? clock.now() : null
      const user = await store.change(caller.ownerId, { bio, email, emailVerifiedAt })
      if (!user) throw userNotFound(caller.ownerId)
      return user
    },
    /**
     * Creates a user with a first token, which has all scopes except the administrative ones. A
     * creation by an administrator is in the audit log.
     */
    async create(
      { username, email }: { readonly username: string; readonly email: string | null },
      caller?: Caller,
    ): Promise<{ readonly user: User; readonly token: string }> {
      assertMany(username)
      const user = { ...toNewUser(clock, username, email), isEmailVerified: email !== null }
      const { record, text } = makeFirstToken(clock, user)
      const audit =
        caller && toAuditEntry(clock, caller, "user.create", { id: user.id, name: username })
      if (!(await store.add(user, record, audit))) throw usernameTaken(username)
      return { user, token: text }
    },
    /** Creates the first user if there is none. The token is returned only then, to be shown once. */
    async ensureFirst(input: { readonly username: string; readonly token: string | undefined }) {
      const first = toNewUser(clock, input.username, null)
      const name = input.token === undefined ? "first token" : "token of the setting"
      const rights = { name, scopes: allScopes, expiresAt: null }
      const { record, text } = makeToken(clock, first.id, rights, input.token)
      const isNew = await store.addFirst(first, record)
      const user = isNew ? first : ((await store.findFirst()) ?? first)
      // From this start on, the token of the setting is valid and the previous one is not.
      if (input.token !== undefined)
        await tokens.replaceSettingToken({ ...record, userId: user.id })
      return { user, isNew, token: isNew && input.token === undefined ? text : undefined }
    },
  }
}

/** Mail to an organisation goes to its people. */
function assertOrgProfile({ ownerId, ownerName, roles }: Caller, email: unknown): void {
  if (!isAtLeast(roles.get(ownerId), "owner")) throw roleTooLow("change the profile", ownerName)
  if (email === undefined) return
  const issues = [{ path: "email", message: "must be absent: an organisation has no address" }]
  throw new AppError(
    "invalid_request",
    `Cannot change the profile of ${ownerName}: an organisation has no email address`,
    { issues },
  )
}

/** The error for a user that does not exist. */
export function userNotFound(which: string): AppError {
  return new AppError("user_not_found", `Cannot find user "${which}"`)
}

/** The error for a name that another user has. */
export function usernameTaken(username: string): AppError {
  return new AppError(
    "username_taken",
    `Cannot create user "${username}": another user has that name`,
  )
}

/** The first token of a user who is not an administrator. */
export function makeFirstToken(clock: Clock, { id }: User) {
  return makeToken(clock, id, { name: "first token", scopes: ordinaryScopes, expiresAt: null })
}

/** A user to be stored, whose address is not confirmed. */
export function toNewUser(clock: Clock, username: string, email: string | null): User {
  const { id, createdAt } = makeOnce(() => ({ id: clock.newId(), createdAt: clock.now() }))
  return {
    id,
    username,
    isOrg: false,
    email,
    isEmailVerified: false,
    bio: null,
    profileImageUrl: null,
    tier: null,
    createdAt,
  }
}
