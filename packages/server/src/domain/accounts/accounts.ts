import type { AuditAction, Scope } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import type { OwnerDatabases } from "@hamlet/owner-databases"
import type { Caller } from "../access/caller.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import { noQuotas, type Quotas } from "../limits/quotas.ts"
import { type Actor, type AuditEntry, toAuditEntry } from "./audit.ts"
import {
  makeToken,
  type NewTokenRecord,
  ordinaryScopes,
  type ShownToken,
  scopeEscalation,
} from "./tokens.ts"
import { type User, userNotFound } from "./users.ts"

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
  /** Closes the account, and marks all its data for deletion. */
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

/** Rows deleted in one transaction, so that other writes do not wait long. */
const purgeRowsMax = 200

/** The rules of accounts, for administrators. */
export type Accounts = ReturnType<typeof createAccounts>

/**
 * Creates the rules of accounts. `watch` applies changes on this node at once; other nodes follow a
 * moment later.
 */
export function createAccounts(
  store: AccountStore,
  ownerDatabases: Pick<OwnerDatabases, "remove">,
  watch: { refresh(): Promise<void> },
  clock: Clock,
) {
  const get = async (id: string): Promise<Account> => {
    const account = await store.find(id)
    if (!account) throw userNotFound(id)
    return account
  }
  /** Changes an account. `write` returns undefined or false when there is no such user. */
  const change = async <Result>(
    actor: Actor,
    action: AuditAction,
    id: string,
    details: AuditEntry["details"],
    write: (audit: AuditEntry) => Promise<Result>,
  ) => {
    const { username: name } = await get(id)
    const result = await write(toAuditEntry(clock, actor, action, { id, name }, details))
    if (!result) throw userNotFound(id)
    await watch.refresh()
    return result
  }
  return {
    get,
    list: (page: PageRequest) => store.list(page),
    /** Suspends a user: `authenticate` refuses its tokens and sessions, `assertRunnable` its vals. */
    async suspend(caller: Caller, id: string, reason: string | null): Promise<void> {
      assertOther(caller, id, "suspend")
      const details = reason === null ? {} : { reason }
      await change(caller, "user.suspend", id, details, (audit) => store.suspend(id, audit))
    },
    /** Lifts a suspension. Also restores a user that was deleted without its data, without tokens. */
    async unsuspend(actor: Actor, id: string): Promise<void> {
      await change(actor, "user.unsuspend", id, {}, (audit) => store.unsuspend(id, audit))
    },
    /**
     * Deletes a user. Its data may be large, so it is deleted in parts; if the server stops
     * meanwhile, the housekeeping of any node continues. The name stays taken until all data is gone.
     */
    async delete(caller: Caller, id: string, data: "keep" | "delete"): Promise<void> {
      assertOther(caller, id, "delete")
      if (data === "keep") {
        await change(caller, "user.delete", id, {}, (audit) => store.close(id, audit))
        return
      }
      const close = (audit: AuditEntry) => store.closeForPurge(id, audit)
      await change(caller, "user.delete_with_data", id, {}, close)
      while (await purgeUser({ accounts: store, ownerDatabases, now: clock.now }, id));
    },
    /** Returns the quotas that were set for a user. */
    async getQuotas(id: string): Promise<Quotas> {
      await get(id)
      return (await store.findQuotas(id)) ?? noQuotas
    },
    /** Sets some quotas of a user. */
    async changeQuotas(caller: Caller, id: string, quotas: Partial<Quotas>): Promise<Quotas> {
      const set = (audit: AuditEntry) => store.changeQuotas(id, quotas, audit)
      return change(caller, "user.set_quotas", id, { ...quotas }, set)
    },
    /** Creates a token for a user, by default with all scopes except the administrative ones. */
    async createToken(actor: TokenMaker, id: string, input: UserTokenInput): Promise<ShownToken> {
      const { username } = await get(id)
      const { name = `made by ${actor.actorName}`, scopes = ordinaryScopes, expiresAt } = input
      assertGrantable(actor, scopes)
      const { token, record, text } = makeToken(clock, id, { name, scopes, expiresAt })
      const details = { tokenId: token.id, name, scopes }
      const subject = { id, name: username }
      await store.addToken(record, toAuditEntry(clock, actor, "token.create", subject, details))
      return { token, text }
    },
  }
}

/** Where the data of a deleted user is. */
export interface UserData {
  readonly accounts: AccountStore
  readonly ownerDatabases: Pick<OwnerDatabases, "remove">
  now(): number
}

/** Deletes a part of a deleted user's data. Returns false when nothing is left. */
export async function purgeUser(
  { accounts, ownerDatabases, now }: UserData,
  id: string,
): Promise<boolean> {
  // First, while the user still exists: if the server stops between the steps, the purge is
  // repeated. A file without a user would never be deleted.
  await ownerDatabases.remove({ ownerId: id })
  return accounts.purge(id, now(), purgeRowsMax)
}

/** An administrator, or the operator, who acts without a token and can grant all scopes. */
type TokenMaker = Actor & { readonly scopes?: ReadonlySet<Scope> }

interface UserTokenInput {
  readonly name?: string | undefined
  readonly scopes?: readonly Scope[] | undefined
  readonly expiresAt: number | null
}

/** Administrative scopes require a token that has them: `admin` alone does not lead to `backup`. */
function assertGrantable({ scopes: own }: TokenMaker, scopes: readonly Scope[]): void {
  const missing = scopes.find(
    (scope) => !ordinaryScopes.includes(scope) && own?.has(scope) === false,
  )
  if (missing) throw scopeEscalation(missing)
}

/** An administrator cannot suspend or delete the own account, and so can undo mistakes. */
function assertOther(caller: Caller, id: string, what: string): void {
  if (caller.actorId === id)
    throw new AppError(
      "own_account",
      `Cannot ${what} user "${caller.actorName}": it is the account that the token belongs to`,
    )
}
