import type { Role } from "../session/owners.ts"

/** The roles, as users choose them. */
export const roleChoices = [
  { value: "member", label: "Member: changes the vals and what belongs to them" },
  { value: "viewer", label: "Viewer: sees private vals, changes nothing" },
  { value: "owner", label: "Owner: also manages people and the organisation" },
] as const satisfies readonly { value: Role; label: string }[]

/** The roles in a narrow list. */
export const shortRoleChoices = [
  { value: "owner", label: "Owner" },
  { value: "member", label: "Member" },
  { value: "viewer", label: "Viewer" },
] as const satisfies readonly { value: Role; label: string }[]

/** The role after "as": `a member`. */
export function toRoleText(role: Role): string {
  return role === "owner" ? "an owner" : `a ${role}`
}
