/**
 * What a person is for an owner. People are the owners of their own accounts; in an organisation, an
 * owner manages it, a member changes its vals, and a viewer sees them.
 */
export type Role = "owner" | "member" | "viewer"

const ranks: Readonly<Record<Role, number>> = { viewer: 1, member: 2, owner: 3 }

/** Whether a role, if there is one, allows what the other one does. */
export function isAtLeast(role: Role | undefined, needed: Role): boolean {
  return role !== undefined && ranks[role] >= ranks[needed]
}
