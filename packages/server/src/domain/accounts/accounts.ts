import type { Scope } from "@hamlet/contract"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import { noQuotas, type Quotas } from "../limits/quotas.ts"
import type { OwnerDatabases } from "../owner-databases.ts"
import type { Page, PageRequest } from "../paging.ts"
import { type Actor, type AuditDeps, type AuditEntry, toAuditEntry } from "./audit.ts"
import { allScopes, makeToken, type NewTokenRecord, type Token } from "./tokens.ts"
import type { User } from "./users.ts"

/** A user as an administrator sees them. */
export interface Account extends User {
  /** Null unless suspended; a deleted account is suspended too. */
  readonly suspendedAt: number | null
  /** Null unless the account was deleted and its data kept, or is about to go with its data. */
  readonly deletedAt: number | null
}

/** What every node has to know of an account before it asks the database. */
export interface AccountState {
  readonly userId: string
  readonly isSuspended: boolean
  /** Undefined where none were set. */
  readonly quotas: Quotas | undefined
}

/**
 * Where accounts are kept. What changes one writes the entry of the audit log in the same
 * transaction.
 */
export interface AccountStore {
  /** Everybody, newest first. */
  list(page: PageRequest): Promise<Page<Account>>
  find(id: string): Promise<Account | undefined>
  /** False when there is no such user. */
  suspend(id: string, audit: AuditEntry): Promise<boolean>
  unsuspend(id: string, audit: AuditEntry): Promise<boolean>
  /**
   * Suspends the account for good and removes its tokens, sessions, secrets and what its profile
   * says.
   */
  close(id: string, audit: AuditEntry): Promise<boolean>
  /** The same, and notes that all data of the account is to go. */
  closeForPurge(id: string, audit: AuditEntry): Promise<boolean>
  addToken(token: NewTokenRecord, audit: AuditEntry): Promise<void>
  findQuotas(id: string): Promise<Quotas | undefined>
  /** Undefined when there is no such user. */
  changeQuotas(id: string, change: Partial<Quotas>, audit: AuditEntry): Promise<Quotas | undefined>
  /** Another text whenever an account was suspended, or got other quotas. */
  findRevision(): Promise<string>
  /** The accounts that are suspended or have quotas. */
  listStates(): Promise<readonly AccountState[]>
  /** The accounts whose data is to go. */
  listPendingPurges(): Promise<readonly string[]>
  /** Deletes a part of the data, and at last the user. False when nothing is left. */
  purge(id: string, at: number, countMax: number): Promise<boolean>
}

/** What the rules of accounts need. */
export interface AccountDeps extends AuditDeps {
  readonly accounts: AccountStore
  readonly ownerDatabases: Pick<OwnerDatabases, "remove">
  /** Makes this node act on what has changed at once; other nodes do so a moment later. */
  readonly accountWatch: { refresh(): Promise<void> }
}

/** Rows that are deleted in one transaction, so that other writes do not wait long. */
const purgeRowsMax = 200

/** All users, as administrators see them. */
export async function listUsers(
  deps: Pick<AccountDeps, "accounts">,
  page: PageRequest,
): Promise<Page<Account>> {
  return deps.accounts.list(page)
}

/** A user as an administrator sees them. */
export async function getAccount(
  deps: Pick<AccountDeps, "accounts">,
  id: string,
): Promise<Account> {
  const account = await deps.accounts.find(id)
  if (!account) throw userNotFound(id)
  return account
}

/** Suspends a user: nothing acts for them any more, and none of their vals runs. */
export async function suspendUser(
  deps: AccountDeps,
  caller: Caller,
  id: string,
  reason: string | null,
): Promise<void> {
  assertOther(caller, id, "suspend")
  const { username } = await getAccount(deps, id)
  const audit = toAuditEntry(
    deps,
    caller,
    "user.suspend",
    { id, name: username },
    reason === null ? {} : { reason },
  )
  if (!(await deps.accounts.suspend(id, audit))) throw userNotFound(id)
  await deps.accountWatch.refresh()
}

/**
 * Lifts a suspension. A user who was deleted without their data is there again, without a token.
 */
export async function unsuspendUser(deps: AccountDeps, actor: Actor, id: string): Promise<void> {
  const { username } = await getAccount(deps, id)
  const audit = toAuditEntry(deps, actor, "user.unsuspend", { id, name: username })
  if (!(await deps.accounts.unsuspend(id, audit))) throw userNotFound(id)
  await deps.accountWatch.refresh()
}

/**
 * Deletes a user. What they have goes part by part, since it may be a lot: when the server ends
 * meanwhile, housekeeping of any node goes on with it. Until the last of it is gone, the name stays
 * taken.
 */
export async function deleteUser(
  deps: AccountDeps,
  caller: Caller,
  id: string,
  data: "keep" | "delete",
): Promise<void> {
  assertOther(caller, id, "delete")
  const { username } = await getAccount(deps, id)
  const action = data === "delete" ? "user.delete_with_data" : "user.delete"
  const audit = toAuditEntry(deps, caller, action, { id, name: username })
  const isThere = await (data === "delete"
    ? deps.accounts.closeForPurge(id, audit)
    : deps.accounts.close(id, audit))
  if (!isThere) throw userNotFound(id)
  await deps.accountWatch.refresh()
  if (data === "delete") while (await purgeUser(deps, id));
}

/** Deletes a part of what a deleted user has; false when nothing is left. */
export async function purgeUser(
  deps: Pick<AccountDeps, "accounts" | "ownerDatabases" | "now">,
  id: string,
): Promise<boolean> {
  // First, as long as the user is there to be found again: a file that nobody owns would stay for
  // ever.
  await deps.ownerDatabases.remove(id)
  return deps.accounts.purge(id, deps.now(), purgeRowsMax)
}

/**
 * A token for a user, with the scopes that the administrator names; otherwise with all but those of
 * administration. These are given only by a token that has them, so that `admin` is not a way to a
 * backup. The operator, who has no token, gives all.
 */
export async function createUserToken(
  deps: AccountDeps,
  actor: Actor & { readonly scopes?: ReadonlySet<Scope> },
  id: string,
  input: {
    readonly name?: string | undefined
    readonly scopes?: readonly Scope[] | undefined
    readonly expiresAt: number | null
  },
): Promise<{ readonly token: Token; readonly text: string }> {
  const { username } = await getAccount(deps, id)
  const { name = `made by ${actor.username}`, scopes = ordinaryScopes, expiresAt } = input
  const missing = scopes.find(
    (scope) => !ordinaryScopes.includes(scope) && actor.scopes?.has(scope) === false,
  )
  if (missing)
    throw new AppError(
      "scope_escalation",
      `Cannot create a token with scope ${missing}: it is not among the required permissions of the token that asks for it`,
    )
  const { token, record, text } = makeToken(deps, id, { name, scopes, expiresAt })
  await deps.accounts.addToken(
    record,
    toAuditEntry(
      deps,
      actor,
      "token.create",
      { id, name: username },
      { tokenId: token.id, name, scopes },
    ),
  )
  return { token, text }
}

/** What a user may do who does not administer. */
export const ordinaryScopes: readonly Scope[] = allScopes.filter(
  (scope) => scope !== "admin" && scope !== "backup",
)

/** The quotas that were set for a user. */
export async function getQuotas(deps: Pick<AccountDeps, "accounts">, id: string): Promise<Quotas> {
  await getAccount(deps, id)
  return (await deps.accounts.findQuotas(id)) ?? noQuotas
}

/** Sets quotas of a user, those that are named. */
export async function changeQuotas(
  deps: AccountDeps,
  caller: Caller,
  id: string,
  change: Partial<Quotas>,
): Promise<Quotas> {
  const { username } = await getAccount(deps, id)
  const audit = toAuditEntry(deps, caller, "user.set_quotas", { id, name: username }, { ...change })
  const changed = await deps.accounts.changeQuotas(id, change, audit)
  if (!changed) throw userNotFound(id)
  await deps.accountWatch.refresh()
  return changed
}

/** Whoever administers stays there to undo it. */
function assertOther(caller: Caller, id: string, what: string): void {
  if (caller.userId === id)
    throw new AppError(
      "own_account",
      `Cannot ${what} user "${caller.username}": it is the account that the token belongs to`,
    )
}

function userNotFound(id: string): AppError {
  return new AppError("user_not_found", `Cannot find user "${id}"`)
}
