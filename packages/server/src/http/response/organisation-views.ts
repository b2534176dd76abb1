import {
  membership,
  org,
  organisation,
  orgInvitation,
  orgMember,
  ownMembership,
  ownOrganisation,
} from "@hamlet/contract"
import type { Member, Membership } from "../../domain/organisations/members.ts"
import type { OrgInvitation } from "../../domain/organisations/org-invitations.ts"
import type { Organisation } from "../../domain/organisations/organisations.ts"
import type { Links } from "./links.ts"
import { createView } from "./view.ts"

/** An organisation. */
export const toOrganisationView = createView(organisation, (it: Organisation, links: Links) => ({
  url: links.userPage(it.username),
  links: { self: links.user(it.id) },
  type: "org" as const,
}))

/** An organisation in the list of those that the caller belongs to. */
export const toOwnOrganisationView = createView(ownOrganisation, (_it: Organisation) => ({}))

/** A membership, as its person sees it. */
export const toOwnMembershipView = createView(ownMembership, (_it: Membership) => ({}))

/** A member. */
export const toMemberView = createView(orgMember, (_it: Member) => ({}))

/** An open invitation into an organisation. */
export const toOrgInvitationView = createView(orgInvitation, (_it: OrgInvitation) => ({}))

/** An organisation on `/v2`. */
export const toOrgView = createView(org, (_it: Organisation) => ({}))

/** A member on `/v2`, where a viewer has no role. */
export const toMembershipView = createView(membership, (it: Member) => ({
  id: it.user.id,
  role: it.role === "viewer" ? null : it.role,
}))
