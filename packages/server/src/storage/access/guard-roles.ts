import { type Database, type Dialect, rows, type Script } from "@hamlet/database"
import {
  type Acting,
  findActing,
  hasChangeableRoles,
  hasRolesOf,
  rolesChanged,
} from "../../domain/access/acting.ts"
import type { Role } from "../../domain/access/roles.ts"

/**
 * Checks in each transaction of a request that the roles of its caller are those that it began with,
 * and keeps them until the commit: nothing is written for a person who was removed before.
 */
export function guardRoles(db: Database): Database {
  return {
    ...db,
    write(script, options) {
      const acting = findActing()
      if (!acting || !hasChangeableRoles(acting)) return db.write(script, options)
      return db.write(() => guarded(db.dialect, acting, script), {
        ...options,
        byThread: undefined,
      })
    },
  }
}

function* guarded<T>(dialect: Dialect, acting: Acting, script: () => Script<T>): Script<T> {
  const found = yield* rows<{ orgId: string; role: Role }>`
    select org_id, role from memberships where user_id = ${acting.actorId} and accepted_at is not null ${dialect.forShare}`
  if (!hasRolesOf(acting, new Map(found.map(({ orgId, role }) => [orgId, role]))))
    throw rolesChanged()
  return yield* script()
}
