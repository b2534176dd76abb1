import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { done, json } from "../response/api-response.ts"
import { listOf } from "../response/page.ts"
import {
  toAccountView,
  toAuditView,
  toInvitationView,
  toNewTokenView,
  toNewUserView,
  toNodeView,
  toQuotasView,
  toUsageView,
} from "../response/views.ts"

/** Administration of users, quotas and invitations, the audit log, and the nodes. */
export function administrationHandlers(nouns: Nouns) {
  const { accounts, audit, invitations, nodes, usage } = nouns
  const { links } = nouns.api
  return {
    getUserAccount: async ({ params }) =>
      json(200, toAccountView(await accounts.get(params.user_id), links)),
    deleteUser: done(({ caller, params, query }) =>
      accounts.delete(caller, params.user_id, query.data),
    ),
    suspendUser: done(({ caller, params, body }) =>
      accounts.suspend(caller, params.user_id, body.reason ?? null),
    ),
    unsuspendUser: done(({ caller, params }) => accounts.unsuspend(caller, params.user_id)),
    createUserToken: async ({ caller, params, body }) => {
      const input = { ...body, expiresAt: body.expiresAt ?? null }
      const { token, text } = await accounts.createToken(caller, params.user_id, input)
      return json(200, toNewTokenView(token, text))
    },
    getUserUsage: async ({ params }) => {
      await accounts.get(params.user_id)
      return json(200, toUsageView(await usage.get({ ownerId: params.user_id })))
    },
    getUserQuotas: async ({ params }) =>
      json(200, toQuotasView(await accounts.getQuotas(params.user_id))),
    putUserQuotas: async ({ caller, params, body }) => {
      const named = Object.fromEntries(
        Object.entries(body).filter(([, value]) => value !== undefined),
      )
      return json(200, toQuotasView(await accounts.changeQuotas(caller, params.user_id, named)))
    },
    listInvitations: listOf(links, ({ query }) => invitations.list(query), toInvitationView),
    createInvitation: async ({ caller, body: { note = null, hours, ...body } }) => {
      const { invitation, code } = await invitations.create(caller, { ...body, note, hours })
      return json(200, { ...toInvitationView(invitation), url: links.invitation(code) })
    },
    revokeInvitation: done(({ caller, params }) =>
      invitations.revoke(caller, params.invitation_id),
    ),
    acceptInvitation: async ({ body: { email = null, ...body } }) => {
      const { user, token } = await invitations.accept({ ...body, email })
      return json(200, toNewUserView(user, token, links))
    },
    listAuditEntries: listOf(links, ({ query }) => audit.list(query, query), toAuditView),
    listNodes: listOf(links, ({ query }) => nodes.listPage(query), toNodeView),
  } satisfies Partial<Handlers>
}
