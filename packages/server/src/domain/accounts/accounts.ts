import type { Scope } from "@hamlet/contract"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import { noQuotas, type Quotas } from "../limits/quotas.ts"
import type { OwnerDatabases } from "../owner-databases.ts"
import type { Page, PageRequest } from "../paging.ts"
import { type Actor, type AuditDeps, type AuditEntry, toAuditEntry } from "./audit.ts"
import { makeToken, type NewTokenRecord, ordinaryScopes, type Token } from "./tokens.ts"
import type { User } from "./users.ts"

/** A user as administrators see it. */
export interface Account extends User {
  /** Null unless suspended; a deleted account is suspended too. */
  readonly suspendedAt: number | null
  /** Null unless the account is deleted: without its data, or while its data is being deleted. */
  readonly deletedAt: number | null
}

/** What every node keeps in memory of an account. */
export interface AccountState {
  readonly userId: string
  readonly isSuspended: boolean
  /** Undefined if none were set. */
  readonly quotas: Quotas | undefined
}

/** Stores accounts. Every change writes its audit log entry in the same transaction. */
export interface AccountStore {
  /** All accounts, newest first. */
  list(page: PageRequest): Promise<Page<Account>>
  find(id: string): Promise<Account | undefined>
  /** Returns false when there is no such user, as the methods below do. */
  suspend(id: string, audit: AuditEntry): Promise<boolean>
  unsuspend(id: string, audit: AuditEntry): Promise<boolean>
  /** Suspends the account and deletes its tokens, sessions, secrets and profile. */
  close(id: string, audit: AuditEntry): Promise<boolean>
  /** As `close`, and marks all data of the account for deletion. */
  closeForPurge(id: string, audit: AuditEntry): Promise<boolean>
  addToken(token: NewTokenRecord, audit: AuditEntry): Promise<void>
  findQuotas(id: string): Promise<Quotas | undefined>
  /** Undefined when there is no such user. */
  changeQuotas(id: string, change: Partial<Quotas>, audit: AuditEntry): Promise<Quotas | undefined>
  /** A text that changes whenever a suspension or a quota changes. */
  findRevision(): Promise<string>
  /** The accounts that are suspended or have quotas. */
  listStates(): Promise<readonly AccountState[]>
  /** The accounts whose data is to be deleted. */
  listPendingPurges(): Promise<readonly string[]>
  /** Deletes a part of the data, and finally the user. Returns false when nothing is left. */
  purge(id: string, at: number, countMax: number): Promise<boolean>
}

/** What the rules of accounts need. */
export interface AccountDeps extends AuditDeps {
  readonly accounts: AccountStore
  readonly ownerDatabases: Pick<OwnerDatabases, "remove">
  /** Applies changes on this node at once; other nodes follow a moment later. */
  readonly accountWatch: { refresh(): Promise<void> }
}

/** Rows deleted in one transaction, so that other writes do not wait long. */
const purgeRowsMax = 200

/** Lists all users, for administrators. */
export async function listUsers(
  deps: Pick<AccountDeps, "accounts">,
  page: PageRequest,
): Promise<Page<Account>> {
  return deps.accounts.list(page)
}

/** Returns a user, for administrators. */
export async function getAccount(
  deps: Pick<AccountDeps, "accounts">,
  id: string,
): Promise<Account> {
  const account = await deps.accounts.find(id)
  if (!account) throw userNotFound(id)
  return account
}

/**
 * Suspends a user: `authenticate` refuses its tokens and sessions, `assertRunnable` its vals.
 */
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

/** Lifts a suspension. Also restores a user that was deleted without its data, without tokens. */
export async function unsuspendUser(deps: AccountDeps, actor: Actor, id: string): Promise<void> {
  const { username } = await getAccount(deps, id)
  const audit = toAuditEntry(deps, actor, "user.unsuspend", { id, name: username })
  if (!(await deps.accounts.unsuspend(id, audit))) throw userNotFound(id)
  await deps.accountWatch.refresh()
}

/**
 * Deletes a user. Its data may be large, so it is deleted in parts; if the server stops meanwhile,
 * the housekeeping of any node continues. The name stays taken until all data is gone.
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

/** Deletes a part of a deleted user's data. Returns false when nothing is left. */
export async function purgeUser(
  deps: Pick<AccountDeps, "accounts" | "ownerDatabases" | "now">,
  id: string,
): Promise<boolean> {
  // First, while the user still exists: if the server stops between the steps, the purge is
  // repeated. A file without a user would never be deleted.
  await deps.ownerDatabases.remove(id)
  return deps.accounts.purge(id, deps.now(), purgeRowsMax)
}

/**
 * Creates a token for a user, by default with all scopes except the administrative ones. Those
 * require a token that has them, so that `admin` alone does not lead to `backup`. The operator, who
 * acts without a token, can grant all.
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
      `Cannot create a token with scope ${missing}: your token does not have the required permissions`,
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

/** Returns the quotas that were set for a user. */
export async function getQuotas(deps: Pick<AccountDeps, "accounts">, id: string): Promise<Quotas> {
  await getAccount(deps, id)
  return (await deps.accounts.findQuotas(id)) ?? noQuotas
}

/** Sets some quotas of a user. */
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

/** An administrator cannot suspend or delete the own account, and so can undo mistakes. */
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
