import { z } from "zod"
import { route } from "../../route.ts"
import {
  createOrgBody,
  createOrgInvitationBody,
  deleteOrgBody,
  joinOrgBody,
  newOrgInvitation,
  organisation,
  orgInvitation,
  orgMember,
  ownMembership,
  ownOrganisation,
  putMemberBody,
  updateOrgBody,
} from "../../schemas/accounts/organisations.ts"
import { offsetQuery } from "../../schemas/files/file-inputs.ts"
import { membership, org } from "../../schemas/files/file-records.ts"
import { pageQuery } from "../../schemas/inputs.ts"
import { page } from "../../schemas/records.ts"

/** Organisations, the people in them, and invitations. */
export const organisationRoutes = {
  listOrganisations: route("Organisations", "get /v1/orgs", {
    summary: "The organisations that the caller belongs to",
    isPersonal: true,
    scope: "user:read",
    query: pageQuery,
    responses: { 200: page(ownOrganisation) },
  }),
  createOrganisation: route("Organisations", "post /v1/orgs", {
    summary: "Create an organisation, whose owner the caller becomes",
    isPersonal: true,
    scope: "user:write",
    body: createOrgBody,
    responses: { 201: organisation },
    errors: ["username_taken", "too_many_organisations"],
  }),
  getOrganisation: route("Organisations", "get /v1/orgs/{org_id}", {
    summary: "An organisation that the caller belongs to",
    scope: "user:read",
    responses: { 200: organisation },
  }),
  updateOrganisation: route("Organisations", "put /v1/orgs/{org_id}", {
    summary: "Change what an organisation says about itself; for owners",
    scope: "user:write",
    body: updateOrgBody,
    responses: { 200: organisation },
  }),
  deleteOrganisation: route("Organisations", "delete /v1/orgs/{org_id}", {
    summary: "Delete an organisation with all that it owns; for owners",
    scope: "user:write",
    body: deleteOrgBody,
    responses: { 202: z.object({ pending: z.literal(true).describe("Always true") }) },
  }),
  listOrgMembers: route("Organisations", "get /v1/orgs/{org_id}/members", {
    summary: "The people in an organisation, by when they were added",
    scope: "user:read",
    query: pageQuery,
    responses: { 200: page(orgMember) },
  }),
  putOrgMember: route("Organisations", "put /v1/orgs/{org_id}/members/{user_id}", {
    summary:
      "Invite a user, who belongs to the organisation once they accept, or change the role of a member; for owners",
    scope: "user:write",
    body: putMemberBody,
    responses: { 200: orgMember },
    errors: ["last_owner", "too_many_members", "too_many_invitations"],
  }),
  removeOrgMember: route("Organisations", "delete /v1/orgs/{org_id}/members/{user_id}", {
    summary: "Remove a member; owners may remove anyone, others themselves",
    scope: "user:write",
    responses: { 204: null },
    errors: ["last_owner", "member_not_found"],
  }),
  listOrgInvitations: route("Organisations", "get /v1/orgs/{org_id}/invitations", {
    summary: "The open invitations into an organisation, newest first; for owners",
    scope: "user:read",
    query: pageQuery,
    responses: { 200: page(orgInvitation) },
  }),
  createOrgInvitation: route("Organisations", "post /v1/orgs/{org_id}/invitations", {
    summary: "Create a link that leads one person into an organisation; for owners",
    scope: "user:write",
    body: createOrgInvitationBody,
    responses: { 201: newOrgInvitation },
    errors: ["too_many_invitations"],
  }),
  revokeOrgInvitation: route(
    "Organisations",
    "delete /v1/orgs/{org_id}/invitations/{invitation_id}",
    {
      summary: "Revoke an invitation into an organisation; for owners",
      scope: "user:write",
      responses: { 204: null },
    },
  ),
  listMyMemberships: route("Organisations", "get /v1/me/memberships", {
    summary: "The organisations that the caller belongs to, or is invited to",
    isPersonal: true,
    scope: "user:read",
    query: pageQuery,
    responses: { 200: page(ownMembership) },
  }),
  joinOrganisation: route("Organisations", "post /v1/me/memberships", {
    summary: "Join an organisation by the code of an invitation",
    isPersonal: true,
    scope: "user:write",
    body: joinOrgBody,
    responses: { 201: organisation },
    errors: ["invitation_not_found", "too_many_members", "too_many_organisations"],
  }),
  acceptMembership: route("Organisations", "post /v1/me/memberships/{org_id}/accept", {
    summary: "Accept the invitation of an organisation",
    isPersonal: true,
    scope: "user:write",
    responses: { 204: null },
    errors: ["too_many_organisations"],
  }),
  declineMembership: route("Organisations", "post /v1/me/memberships/{org_id}/decline", {
    summary: "Decline the invitation of an organisation",
    isPersonal: true,
    scope: "user:write",
    responses: { 204: null },
  }),
  listOrgs: route("Organisations", "get /v2/orgs", {
    summary: "The organisations that the caller belongs to",
    scope: "user:read",
    query: offsetQuery,
    responses: { 200: page(org) },
  }),
  listMemberships: route("Organisations", "get /v2/orgs/{org_id}/memberships", {
    summary: "The people in an organisation, at most 10,000",
    scope: "user:read",
    responses: { 200: z.array(membership) },
  }),
}
