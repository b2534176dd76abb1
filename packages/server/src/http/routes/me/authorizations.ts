import { authorization, authorizationRequest } from "@hamlet/contract"
import type { AuthorizationRequest } from "../../../domain/oauth/authorizations.ts"
import type { ClientAuthorization } from "../../../domain/oauth/oauth.ts"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { done, json } from "../../response/api-response.ts"
import { listOf } from "../../response/page.ts"
import { createView } from "../../response/view.ts"

/** The programs that the caller has authorized. */
export function authorizationHandlers({ authorizations, api: { links } }: Nouns) {
  return {
    listAuthorizations: listOf(
      links,
      ({ caller, query }) => authorizations.list(caller, query),
      toAuthorizationView,
    ),
    createAuthorization: async ({ caller, body }) =>
      json(200, { url: await authorizations.allow(caller, body.query, body.scopes) }),
    deleteAuthorization: done(({ caller, params }) =>
      authorizations.end(caller, params.authorization_id),
    ),
    checkAuthorization: async ({ caller, body }) => {
      return json(200, toRequestView(await authorizations.check(caller, body.query)))
    },
  } satisfies Partial<Handlers>
}

const toAuthorizationView = createView(authorization, (_it: ClientAuthorization) => ({}))

const toRequestView = createView(authorizationRequest, (_it: AuthorizationRequest) => ({}))
