import type { identity, providerSignIn } from "@hamlet/contract"
import type { z } from "zod"
import {
  finishProviderSignIn,
  type LinkedIdentity,
  linkIdentity,
  type OfferedSignUp,
  type StartedSession,
  signUpWithProvider,
  startProviderSignIn,
  unlinkIdentity,
} from "../../../domain/identities/identities.ts"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { json, noContent } from "../../response/api-response.ts"
import { page } from "../../response/page.ts"
import { toNewSessionView } from "../sessions.ts"

/** Sign-in with an OpenID Connect provider. */
export function identityHandlers({ accounts, api: { links, sessionCookie } }: Nouns) {
  const toBrowser = (request: Request) => ({
    userAgent: request.headers.get("user-agent"),
    replaced: sessionCookie.findReplaced(request),
  })
  const toCookie = ({ session, text }: StartedSession) => ({
    "set-cookie": sessionCookie.set(text, session.expiresAt - session.createdAt),
  })
  return {
    startProviderSignIn: async () => {
      const { url, attempt } = await startProviderSignIn(accounts)
      return json(200, { url, attempt })
    },
    finishProviderSignIn: async ({ body, request }) => {
      const finished = await finishProviderSignIn(accounts, body, toBrowser(request))
      return "session" in finished
        ? json(200, toSignInView(finished), toCookie(finished))
        : json(200, toSignInView(finished))
    },
    signUpWithProvider: async ({ body, request }) => {
      const { ticket, username, invitation } = body
      const started = await signUpWithProvider(
        accounts,
        { ticket, username, invitation },
        toBrowser(request),
      )
      return json(200, toNewSessionView(started.session, started.text), toCookie(started))
    },
    listIdentities: async ({ caller, query, request }) =>
      page(
        links,
        request,
        query,
        await accounts.identities.list(caller.userId, query),
        toIdentityView,
      ),
    linkIdentity: async ({ caller, body }) =>
      json(200, toIdentityView(await linkIdentity(accounts, caller, body))),
    unlinkIdentity: async ({ caller, params }) => {
      await unlinkIdentity(accounts, caller, params.identity_id)
      return noContent()
    },
  } satisfies Partial<Handlers>
}

function toSignInView(it: StartedSession | OfferedSignUp): z.infer<typeof providerSignIn> {
  if ("session" in it) return { session: toNewSessionView(it.session, it.text), signUp: null }
  const { ticket, username, email, needsInvitation } = it
  return { session: null, signUp: { ticket, username, email, needsInvitation } }
}

/** Without the subject, which no user knows. */
function toIdentityView(it: LinkedIdentity): z.infer<typeof identity> {
  return {
    id: it.id,
    issuer: it.issuer,
    email: it.email,
    createdAt: new Date(it.createdAt).toISOString(),
    lastUsedAt: it.lastUsedAt === null ? null : new Date(it.lastUsedAt).toISOString(),
  }
}
