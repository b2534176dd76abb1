import type { privacy } from "@hamlet/contract"
import type { z } from "zod"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"

/** Who may see a val. */
export type Privacy = z.infer<typeof privacy>

/** Decides who may see a val. */
export interface ValAccess {
  readonly ownerId: string
  readonly privacy: Privacy
}

/** Whether the caller may see the val, given its address. */
export function canSee(val: ValAccess, caller: Pick<Caller, "userId"> | undefined): boolean {
  return val.privacy !== "private" || val.ownerId === caller?.userId
}

/**
 * Throws unless the caller owns the val: not-found if the caller may not even see it. The message
 * says what was to be done.
 */
export function assertOwner(
  val: ValAccess & { readonly id: string; readonly name: string; readonly ownerName: string },
  caller: Caller,
  action = "change",
): void {
  if (!canSee(val, caller)) throw valNotFound(val.id)
  if (val.ownerId !== caller.userId)
    throw new AppError(
      "not_owner",
      `Cannot ${action} val "${val.name}": it belongs to ${val.ownerName}`,
    )
}

/** The error for a val that does not exist, and for one that the caller may not see. */
export function valNotFound(address: string): AppError {
  return new AppError("val_not_found", `Cannot find val "${address}"`)
}
