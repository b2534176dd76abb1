import { AsyncLocalStorage } from "node:async_hooks"
import { AppError } from "../app-error.ts"
import type { Caller } from "./caller.ts"
import { isAtLeast, type Role } from "./roles.ts"

/** The person who acts, and the roles that the person had when the request began. */
export type Acting = Pick<Caller, "actorId" | "roles">

const current = new AsyncLocalStorage<Acting>()

/** Runs the work of a caller so that `findActing` returns the caller inside it. */
export function runAs<T>(caller: Acting | undefined, work: () => T): T {
  return caller ? current.run(caller, work) : work()
}

/** Who acts in the current request; undefined outside of one, and for a request without a token. */
export function findActing(): Acting | undefined {
  return current.getStore()
}

/** Whether the roles of the person can change: only those in organisations can. */
export function hasChangeableRoles({ actorId, roles }: Acting): boolean {
  return roles.size > 1 || !roles.has(actorId)
}

/** Whether the person has all these roles still, or higher ones. */
export function hasRolesOf({ actorId, roles }: Acting, now: ReadonlyMap<string, Role>): boolean {
  return [...roles].every(
    ([ownerId, role]) => ownerId === actorId || isAtLeast(now.get(ownerId), role),
  )
}

/** The error for a person whose roles have changed since the request began. */
export function rolesChanged(): AppError {
  return new AppError(
    "roles_changed",
    "Cannot do this: your roles have changed while the request was carried out; send it again",
  )
}
