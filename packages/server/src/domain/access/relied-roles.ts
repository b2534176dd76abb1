import { AsyncLocalStorage } from "node:async_hooks"
import { AppError } from "../app-error.ts"
import type { Caller } from "./caller.ts"
import { isAtLeast, type Role } from "./roles.ts"

/** A person and the roles that the person had when a request began. */
export type ReliedRoles = Pick<Caller, "actorId" | "roles">

const current = new AsyncLocalStorage<ReliedRoles>()

/**
 * Runs the work of a caller so that `findReliedRoles` returns the roles inside it. Without
 * organisations there are none that could change meanwhile.
 */
export function relyOnRoles<T>(caller: ReliedRoles | undefined, work: () => T): T {
  const isAlone = !caller || (caller.roles.size === 1 && caller.roles.has(caller.actorId))
  return isAlone ? work() : current.run(caller, work)
}

/** The roles on which the current request relies; undefined for none. */
export function findReliedRoles(): ReliedRoles | undefined {
  return current.getStore()
}

/** Throws unless the person has all these roles still, or higher ones. */
export function assertRolesKept(
  { actorId, roles }: ReliedRoles,
  now: ReadonlyMap<string, Role>,
): void {
  for (const [ownerId, role] of roles)
    if (ownerId !== actorId && !isAtLeast(now.get(ownerId), role))
      throw new AppError(
        "roles_changed",
        "Cannot do this: your roles have changed while the request was carried out; send it again",
      )
}
