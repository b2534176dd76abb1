import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { done, json, noContent } from "../response/api-response.ts"
import { listOf } from "../response/page.ts"
import {
  toNewTokenView,
  toSecretView,
  toTokenView,
  toValSecretView,
  toVariableView,
} from "../response/views.ts"

/** The tokens and secrets of the caller and of their vals. */
export function accountHandlers({ tokens, secrets, valSecrets, api: { links } }: Nouns) {
  return {
    listTokens: listOf(links, ({ caller, query }) => tokens.list(caller, query), toTokenView),
    createToken: async ({ caller, body }) => {
      const { expiresAt = null, ...rest } = body
      const { token, text } = await tokens.create(caller, { ...rest, expiresAt })
      return json(200, toNewTokenView(token, text))
    },
    revokeToken: done(({ caller, params }) => tokens.revoke(caller, params.token_id)),
    listSecrets: listOf(links, ({ caller, query }) => secrets.list(caller, query), toSecretView),
    putSecret: done(({ caller, params, body: { value, hosts = null } }) =>
      secrets.put(caller, { name: params.name, value, hosts }),
    ),
    deleteSecret: done(({ caller, params }) => secrets.delete(caller, params.name)),
    listValSecrets: listOf(
      links,
      ({ caller, params, query }) => valSecrets.list(caller, params.val_id, query),
      toValSecretView,
    ),
    putValSecret: async ({ caller, params, body }) => {
      const { value, hosts = null, description } = body
      await valSecrets.put(caller, params.val_id, { name: params.name, value, hosts, description })
      return noContent()
    },
    deleteValSecret: done(({ caller, params }) =>
      valSecrets.delete(caller, params.val_id, params.name),
    ),
    listEnvironmentVariables: listOf(
      links,
      ({ caller, params, query }) => valSecrets.list(caller, params.val_id, query),
      toVariableView,
    ),
    createEnvironmentVariable: async ({ caller, params, body }) => {
      const { key: name, ...rest } = body
      const secret = await valSecrets.put(caller, params.val_id, { name, ...rest }, true)
      return json(201, toVariableView(secret))
    },
    putEnvironmentVariable: async ({ caller, params, body }) => {
      const input = { name: params.variable, ...body }
      return json(201, toVariableView(await valSecrets.put(caller, params.val_id, input, false)))
    },
    deleteEnvironmentVariable: done(({ caller, params }) =>
      valSecrets.delete(caller, params.val_id, params.variable),
    ),
  } satisfies Partial<Handlers>
}
