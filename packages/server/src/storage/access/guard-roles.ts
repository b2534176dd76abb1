import { type Database, type Dialect, rows, type Script } from "@hamlet/database"
import {
  assertRolesKept,
  findReliedRoles,
  type ReliedRoles,
} from "../../domain/access/relied-roles.ts"
import type { Role } from "../../domain/access/roles.ts"

/**
 * Checks in each transaction of a request that the roles of its caller are those that it began with,
 * and keeps them until the commit: nothing is written for a person who was removed before.
 */
export function guardRoles(db: Database): Database {
  return {
    ...db,
    write(script, options) {
      const relied = findReliedRoles()
      if (!relied) return db.write(script, options)
      return db.write(() => guarded(db.dialect, relied, script), {
        ...options,
        byThread: undefined,
      })
    },
  }
}

function* guarded<T>(dialect: Dialect, relied: ReliedRoles, script: () => Script<T>): Script<T> {
  const found = yield* rows<{ orgId: string; role: Role }>`
    select org_id, role from memberships where user_id = ${relied.actorId} and accepted_at is not null ${dialect.forShare}`
  assertRolesKept(relied, new Map(found.map(({ orgId, role }) => [orgId, role])))
  return yield* script()
}
