import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { done, json } from "../../response/api-response.ts"
import {
  toMembershipView,
  toMemberView,
  toOrganisationView,
  toOrgInvitationView,
  toOrgView,
  toOwnMembershipView,
  toOwnOrganisationView,
} from "../../response/organisation-views.ts"
import { listOf } from "../../response/page.ts"

const membersMax = 10_000

/** Organisations, the people in them, and invitations. */
export function organisationHandlers(nouns: Nouns) {
  const { members, organisations, orgInvitations } = nouns
  const { links } = nouns.api
  return {
    listOrganisations: listOf(
      links,
      ({ caller, query }) => organisations.list(caller, query),
      toOwnOrganisationView,
    ),
    createOrganisation: async ({ caller, body: { username, bio = null } }) =>
      json(201, toOrganisationView(await organisations.create(caller, { username, bio }), links)),
    getOrganisation: async ({ caller, params }) =>
      json(200, toOrganisationView(await organisations.get(caller, params.org_id), links)),
    updateOrganisation: async ({ caller, params, body }) =>
      json(200, toOrganisationView(await organisations.update(caller, params.org_id, body), links)),
    deleteOrganisation: async ({ caller, params, body }) => {
      await organisations.delete(caller, params.org_id, body.confirm)
      return json(202, { pending: true })
    },
    listOrgMembers: listOf(
      links,
      ({ caller, params, query }) => members.list(caller, params.org_id, query),
      toMemberView,
    ),
    putOrgMember: async ({ caller, params, body }) => {
      const { org_id: orgId, user_id: userId } = params
      return json(200, toMemberView(await members.put(caller, orgId, userId, body.role)))
    },
    removeOrgMember: done(({ caller, params }) =>
      members.remove(caller, params.org_id, params.user_id),
    ),
    listOrgInvitations: listOf(
      links,
      ({ caller, params, query }) => orgInvitations.list(caller, params.org_id, query),
      toOrgInvitationView,
    ),
    createOrgInvitation: async ({ caller, params, body }) => {
      const { role, email = null, expiresAt = null } = body
      const input = { role, email, expiresAt }
      const { invitation, code } = await orgInvitations.invite(caller, params.org_id, input)
      return json(201, { ...toOrgInvitationView(invitation), url: links.joinOrganisation(code) })
    },
    revokeOrgInvitation: done(({ caller, params }) =>
      orgInvitations.revoke(caller, params.org_id, params.invitation_id),
    ),
    listMyMemberships: listOf(
      links,
      ({ caller, query }) => members.listMemberships(caller, query),
      toOwnMembershipView,
    ),
    joinOrganisation: async ({ caller, body }) =>
      json(201, toOrganisationView(await orgInvitations.join(caller, body.code), links)),
    acceptMembership: done(({ caller, params }) => members.accept(caller, params.org_id)),
    declineMembership: done(({ caller, params }) => members.decline(caller, params.org_id)),
    listOrgs: listOf(links, ({ caller, query }) => organisations.list(caller, query), toOrgView),
    listMemberships: async ({ caller, params, room }) => {
      const page = { limit: membersMax, offset: 0, room }
      const { items } = await members.list(caller, params.org_id, page)
      return json(200, items.filter(({ pending }) => !pending).map(toMembershipView))
    },
  } satisfies Partial<Handlers>
}
