import { limits } from "@hamlet/contract"
import type { Role } from "../../domain/access/roles.ts"

/** The roles of the user whose id is in the column, as words: `id:role`. */
export function rolesOf(column: string): string {
  return `coalesce((select string_agg(word, ' ') from (select concat(m.org_id, ':', m.role) as word from memberships m
    join users o on o.id = m.org_id and o.suspended_at is null where m.user_id = ${column} and m.accepted_at is not null
    limit ${limits.organisationsPerUserMax}) words), '')`
}

/** The roles that these words mean, and that of the user for the user's own account. */
export function toRoles(userId: string, words: readonly string[]): ReadonlyMap<string, Role> {
  const roles = new Map<string, Role>([[userId, "owner"]])
  for (const word of words) {
    const [orgId = "", role] = word.split(":")
    roles.set(orgId, role as Role)
  }
  return roles
}
