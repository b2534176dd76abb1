import { createToken, revokeToken } from "../../domain/accounts/tokens.ts"
import { deleteSecret, putSecret } from "../../domain/secrets/secrets.ts"
import { deleteValSecret, listValSecrets, putValSecret } from "../../domain/secrets/val-secrets.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { json, noContent } from "../response/api-response.ts"
import { page } from "../response/page.ts"
import { toNewTokenView, toSecretView, toTokenView } from "../response/views.ts"

/** The tokens and secrets of the caller and of their vals. */
export function accountHandlers({ accounts, vals, api: { links } }: Nouns) {
  return {
    listTokens: async ({ caller, query, request }) =>
      page(links, request, query, await accounts.tokens.list(caller.userId, query), toTokenView),
    createToken: async ({ caller, body }) => {
      const { token, text } = await createToken(accounts, caller, {
        name: body.name,
        scopes: body.scopes,
        expiresAt: body.expiresAt ?? null,
      })
      return json(200, toNewTokenView(token, text))
    },
    revokeToken: async ({ caller, params }) => {
      await revokeToken(accounts, caller, params.token_id)
      return noContent()
    },
    listSecrets: async ({ caller, query, request }) =>
      page(links, request, query, await accounts.secrets.list(caller.userId, query), toSecretView),
    putSecret: async ({ caller, params, body }) => {
      await putSecret(accounts, caller, {
        name: params.name,
        value: body.value,
        hosts: body.hosts ?? null,
      })
      return noContent()
    },
    deleteSecret: async ({ caller, params }) => {
      await deleteSecret(accounts, caller, params.name)
      return noContent()
    },
    listValSecrets: async ({ caller, params, query, request }) =>
      page(
        links,
        request,
        query,
        await listValSecrets(vals, caller, params.val_id, query),
        toSecretView,
      ),
    putValSecret: async ({ caller, params, body }) => {
      const { value, hosts = null } = body
      await putValSecret(vals, caller, params.val_id, { name: params.name, value, hosts })
      return noContent()
    },
    deleteValSecret: async ({ caller, params }) => {
      await deleteValSecret(vals, caller, params.val_id, params.name)
      return noContent()
    },
  } satisfies Partial<Handlers>
}
