import type { authorization } from "@hamlet/contract"
import type { z } from "zod"
import { allowClient, checkAuthorization, endAuthorization } from "../../domain/oauth/authorize.ts"
import type { ClientAuthorization } from "../../domain/oauth/oauth.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { json, noContent } from "../response/api-response.ts"
import { page } from "../response/page.ts"

/** The programs that the caller has authorized. */
export function authorizationHandlers({ accounts, api: { links } }: Nouns) {
  return {
    listAuthorizations: async ({ caller, query, request }) =>
      page(
        links,
        request,
        query,
        await accounts.oauth.list(caller.userId, accounts.now(), query),
        toAuthorizationView,
      ),
    createAuthorization: async ({ caller, body }) =>
      json(200, { url: await allowClient(accounts, caller, body.query, body.scopes) }),
    deleteAuthorization: async ({ caller, params }) => {
      await endAuthorization(accounts, caller, params.authorization_id)
      return noContent()
    },
    checkAuthorization: async ({ caller, body }) => {
      const it = await checkAuthorization(accounts, caller, body.query)
      return json(200, {
        clientName: it.clientName,
        clientCreatedAt: new Date(it.clientCreatedAt).toISOString(),
        redirectTarget: it.redirectTarget,
        isLocal: it.isLocal,
        scopes: it.scopes,
        denyUrl: it.denyUrl,
        refusal: it.refusal && { message: it.refusal.message, url: it.refusal.url },
      })
    },
  } satisfies Partial<Handlers>
}

function toAuthorizationView(it: ClientAuthorization): z.infer<typeof authorization> {
  return {
    id: it.id,
    clientName: it.clientName,
    scopes: [...it.scopes],
    createdAt: new Date(it.createdAt).toISOString(),
    lastUsedAt: new Date(it.lastUsedAt).toISOString(),
    expiresAt: new Date(it.expiresAt).toISOString(),
  }
}
