import {
  changeQuotas,
  createUserToken,
  deleteUser,
  getAccount,
  getQuotas,
  suspendUser,
  unsuspendUser,
} from "../../domain/accounts/accounts.ts"
import {
  acceptInvitation,
  createInvitation,
  revokeInvitation,
} from "../../domain/accounts/invitations.ts"
import { getUsage } from "../../domain/limits/usage.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { json, noContent } from "../response/api-response.ts"
import { page } from "../response/page.ts"
import {
  toAccountView,
  toAuditView,
  toInvitationView,
  toNewTokenView,
  toNewUserView,
  toQuotasView,
  toUsageView,
} from "../response/views.ts"

/** Administration of users, quotas and invitations, and the audit log. */
export function administrationHandlers({ accounts, api: { links } }: Nouns) {
  return {
    getUserAccount: async ({ params }) =>
      json(200, toAccountView(await getAccount(accounts, params.user_id), links)),
    deleteUser: async ({ caller, params, query }) => {
      await deleteUser(accounts, caller, params.user_id, query.data)
      return noContent()
    },
    suspendUser: async ({ caller, params, body }) => {
      await suspendUser(accounts, caller, params.user_id, body.reason ?? null)
      return noContent()
    },
    unsuspendUser: async ({ caller, params }) => {
      await unsuspendUser(accounts, caller, params.user_id)
      return noContent()
    },
    createUserToken: async ({ caller, params, body }) => {
      const { token, text } = await createUserToken(accounts, caller, params.user_id, {
        ...body,
        expiresAt: body.expiresAt ?? null,
      })
      return json(200, toNewTokenView(token, text))
    },
    getUserUsage: async ({ params }) => {
      await getAccount(accounts, params.user_id)
      return json(200, toUsageView(await getUsage(accounts, { userId: params.user_id })))
    },
    getUserQuotas: async ({ params }) =>
      json(200, toQuotasView(await getQuotas(accounts, params.user_id))),
    putUserQuotas: async ({ caller, params, body }) => {
      const named = Object.fromEntries(
        Object.entries(body).filter(([, value]) => value !== undefined),
      )
      return json(200, toQuotasView(await changeQuotas(accounts, caller, params.user_id, named)))
    },
    listInvitations: async ({ query, request }) =>
      page(
        links,
        request,
        query,
        await accounts.invitations.list(accounts.now(), query),
        toInvitationView,
      ),
    createInvitation: async ({ caller, body }) => {
      const { invitation, code } = await createInvitation(accounts, caller, {
        note: body.note ?? null,
        hours: body.hours,
        email: body.email,
        quotas: body.quotas,
      })
      return json(200, { ...toInvitationView(invitation), url: links.invitation(code) })
    },
    revokeInvitation: async ({ caller, params }) => {
      await revokeInvitation(accounts, caller, params.invitation_id)
      return noContent()
    },
    acceptInvitation: async ({ body }) => {
      const { user, token } = await acceptInvitation(accounts, {
        code: body.code,
        username: body.username,
        email: body.email ?? null,
      })
      return json(200, toNewUserView(user, token, links))
    },
    listAuditEntries: async ({ query, request }) => {
      const filter = { since: query.since, until: query.until, action: query.action }
      return page(links, request, query, await accounts.audit.list(filter, query), toAuditView)
    },
  } satisfies Partial<Handlers>
}
