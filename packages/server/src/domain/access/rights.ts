import type { privacy } from "@hamlet/contract"
import type { z } from "zod"
import { AppError } from "../app-error.ts"
import type { Caller } from "./caller.ts"
import { isAtLeast } from "./roles.ts"

/** Who may see a val. */
export type Privacy = z.infer<typeof privacy>

/** Decides who may do what with a val. */
export interface ValAccess {
  readonly ownerId: string
  readonly privacy: Privacy
}

/** Whom the rule knows: the roles of a person, by the id of the owner. */
export type Viewer = Pick<Caller, "roles">

/** The account of an owner, as a caller sees it. */
export type AccountView = Pick<Caller, "ownerId" | "roles">

/** What a caller may do with a val. */
export interface Rights {
  /** See the val, given its address. */
  readonly see: boolean
  /** See what belongs to its owner: its runs with their logs, its schedules, that it exists in lists. */
  readonly inspect: boolean
  readonly change: boolean
  /** Give it to another owner. */
  readonly manage: boolean
}

/** The rule of access. Lists apply the same rule as SQL: `storage/access/visibility.ts`. */
export function rightsOn(val: ValAccess, caller: Viewer | undefined): Rights {
  const role = caller?.roles.get(val.ownerId)
  return {
    see: val.privacy !== "private" || role !== undefined,
    inspect: role !== undefined,
    change: isAtLeast(role, "member"),
    manage: isAtLeast(role, "owner"),
  }
}

/** An account as its owner sees it, who has no rights of other owners. */
export function asOwner(ownerId: string): AccountView {
  return { ownerId, roles: new Map([[ownerId, "owner"]]) }
}

/** Whether it belongs to the account, wherever that matters more than who may do what. */
export function isOfAccount(
  owned: Pick<ValAccess, "ownerId">,
  account: Pick<Caller, "ownerId">,
): boolean {
  return owned.ownerId === account.ownerId
}

/**
 * The account that a run of the val is on: that of its owner for those who may change the val, else
 * that of the caller.
 */
export function accountOf(val: NamedVal, caller: AccountView): string {
  const rights = rightsOn(val, caller)
  if (rights.change) return val.ownerId
  if (val.privacy === "private") throw roleTooLow(`run val "${val.name}"`, val.ownerName)
  return caller.ownerId
}

/** Whether the caller may see the val, given its address. */
export function canSee(val: ValAccess, caller: Viewer | undefined): boolean {
  return rightsOn(val, caller).see
}

/** Throws where the caller acts for an organisation whose data its role does not let it change. */
export function assertMayWriteFor({ actorId, ownerId, ownerName, roles }: Caller): void {
  if (ownerId === actorId || isAtLeast(roles.get(ownerId), "member")) return
  throw roleTooLow("change this", ownerName)
}

/** A val as errors name it. */
type NamedVal = ValAccess & {
  readonly id: string
  readonly name: string
  readonly ownerName: string
}

/** Throws unless the caller may see what belongs to the owner of the val, as `assertMayChange` does. */
export function assertMayInspect(val: NamedVal, caller: Viewer, action: string): void {
  const rights = rightsOn(val, caller)
  if (!rights.see) throw valNotFound(val.id)
  if (!rights.inspect) throw notOwner(val, action)
}

/**
 * Throws unless the caller may change the val: not-found if the caller may not even see it. The message
 * says what was to be done.
 */
export function assertMayChange(val: NamedVal, caller: Viewer, action = "change"): void {
  const rights = rightsOn(val, caller)
  if (!rights.see) throw valNotFound(val.id)
  if (rights.change) return
  throw rights.inspect
    ? roleTooLow(`${action} val "${val.name}"`, val.ownerName)
    : notOwner(val, action)
}

/** Throws unless the val belongs to the account that the caller acts for, which the caller may change. */
export function assertOfAccount(val: NamedVal, caller: AccountView, action: string): void {
  assertMayChange(val, caller, action)
  if (!isOfAccount(val, caller)) throw notOwner(val, action)
}

function notOwner({ name, ownerName }: NamedVal, action: string): AppError {
  return new AppError("not_owner", `Cannot ${action} val "${name}": it belongs to ${ownerName}`)
}

/** The error for a member of an organisation whose role does not allow it. */
export function roleTooLow(action: string, ownerName: string): AppError {
  return new AppError(
    "role_too_low",
    `Cannot ${action}: your role in ${ownerName} does not allow it`,
  )
}

/** The error for a val that does not exist, and for one that the caller may not see. */
export function valNotFound(address: string): AppError {
  return new AppError("val_not_found", `Cannot find val "${address}"`)
}
