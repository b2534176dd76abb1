import { identity, type providerSignIn as providerSignInView } from "@hamlet/contract"
import type { z } from "zod"
import type { StartedSession } from "../../../domain/accounts/sessions.ts"
import type { LinkedIdentity } from "../../../domain/identities/identities.ts"
import type { OfferedSignUp } from "../../../domain/identities/provider-sign-in.ts"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { done, json } from "../../response/api-response.ts"
import { listOf } from "../../response/page.ts"
import { createView } from "../../response/view.ts"
import { toNewSessionView } from "../sessions.ts"

/** Sign-in with an OpenID Connect provider. */
export function identityHandlers({ identities, providerSignIn, api }: Nouns) {
  const { links, sessionCookie } = api
  const toBrowser = (request: Request) => ({
    userAgent: request.headers.get("user-agent"),
    replaced: sessionCookie.findReplaced(request),
  })
  const toCookie = ({ session, text }: StartedSession) => ({
    "set-cookie": sessionCookie.set(text, session.expiresAt - session.createdAt),
  })
  return {
    startProviderSignIn: async () => {
      const { url, attempt } = await providerSignIn.start()
      return json(200, { url, attempt })
    },
    finishProviderSignIn: async ({ body, request }) => {
      const finished = await providerSignIn.finish(body, toBrowser(request))
      return "session" in finished
        ? json(200, toSignInView(finished), toCookie(finished))
        : json(200, toSignInView(finished))
    },
    signUpWithProvider: async ({ body, request }) => {
      const { ticket, username, invitation } = body
      const started = await providerSignIn.signUp(
        { ticket, username, invitation },
        toBrowser(request),
      )
      return json(200, toNewSessionView(started.session, started.text), toCookie(started))
    },
    listIdentities: listOf(
      links,
      ({ caller, query }) => identities.list(caller, query),
      toIdentityView,
    ),
    linkIdentity: async ({ caller, body }) =>
      json(200, toIdentityView(await identities.link(caller, body))),
    unlinkIdentity: done(({ caller, params }) => identities.unlink(caller, params.identity_id)),
  } satisfies Partial<Handlers>
}

function toSignInView(it: StartedSession | OfferedSignUp): z.infer<typeof providerSignInView> {
  if ("session" in it) return { session: toNewSessionView(it.session, it.text), signUp: null }
  const { ticket, username, email, needsInvitation } = it
  return { session: null, signUp: { ticket, username, email, needsInvitation } }
}

/** Without the subject, which no user knows. */
const toIdentityView = createView(identity, (_it: LinkedIdentity) => ({}))
