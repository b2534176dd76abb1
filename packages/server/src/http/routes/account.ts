import { createToken, revokeToken } from "../../domain/accounts/tokens.ts"
import { deleteSecret, putSecret } from "../../domain/secrets/secrets.ts"
import type { Handlers } from "../call.ts"
import type { HttpDeps } from "../deps.ts"
import { json, noContent } from "../response/api-response.ts"
import { page } from "../response/page.ts"
import { toNewTokenView, toSecretView, toTokenView } from "../views/views.ts"

/** The tokens and secrets of the caller. */
export function accountHandlers(deps: HttpDeps) {
  const { links } = deps
  return {
    listTokens: async ({ caller, query, request }) =>
      page(links, request, query, await deps.tokens.list(caller.userId, query), toTokenView),
    createToken: async ({ caller, body }) => {
      const { token, text } = await createToken(deps, caller, {
        name: body.name,
        scopes: body.scopes,
        expiresAt: body.expiresAt ?? null,
      })
      return json(200, toNewTokenView(token, text))
    },
    revokeToken: async ({ caller, params }) => {
      await revokeToken(deps, caller, params.token_id)
      return noContent()
    },
    listSecrets: async ({ caller, query, request }) =>
      page(links, request, query, await deps.secrets.list(caller.userId, query), toSecretView),
    putSecret: async ({ caller, params, body }) => {
      await putSecret(deps, caller, {
        name: params.name,
        value: body.value,
        hosts: body.hosts ?? null,
      })
      return noContent()
    },
    deleteSecret: async ({ caller, params }) => {
      await deleteSecret(deps, caller, params.name)
      return noContent()
    },
  } satisfies Partial<Handlers>
}
