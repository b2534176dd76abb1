import {
  createSignInLink,
  endSession,
  getLinkOwner,
  signIn,
} from "../../domain/accounts/sessions.ts"
import type { Handlers } from "../call.ts"
import type { HttpDeps } from "../deps.ts"
import { json, noContent } from "../response/api-response.ts"
import { page } from "../response/page.ts"
import {
  toNewSessionView,
  toSessionView,
  toSignInLinkOwnerView,
  toSignInLinkView,
} from "../views/session-views.ts"

/** Browser sessions and sign-in links. */
export function sessionHandlers(deps: HttpDeps) {
  const { links, sessionCookie } = deps
  const signedOut = { ...noContent(), headers: { "set-cookie": sessionCookie.clear } }
  return {
    createSession: async ({ body, request }) => {
      const replaced = sessionCookie.findReplaced(request)
      const { session, text } = await signIn(deps, {
        ...body,
        userAgent: request.headers.get("user-agent"),
        replaced,
      })
      const setCookie = sessionCookie.set(text, session.expiresAt - session.createdAt)
      return json(200, toNewSessionView(session, text), { "set-cookie": setCookie })
    },
    findSignInLinkOwner: async ({ body }) =>
      json(200, toSignInLinkOwnerView(await getLinkOwner(deps, body.code))),
    listSessions: async ({ caller, query, request }) =>
      page(
        links,
        request,
        query,
        await deps.sessions.list(caller.userId, deps.now(), query),
        (it) => toSessionView(it, caller.tokenId),
      ),
    deleteSession: async ({ caller, params }) => {
      await endSession(deps, caller, params.session_id)
      return params.session_id === caller.tokenId ? signedOut : noContent()
    },
    deleteAllSessions: async ({ caller }) => {
      await deps.sessions.removeAll(caller.userId)
      return signedOut
    },
    signOut: async ({ caller }) => {
      // No effect when the caller uses a token.
      await deps.sessions.remove(caller.userId, caller.tokenId)
      return signedOut
    },
    createSignInLink: async ({ caller }) =>
      json(200, toSignInLinkView(await createSignInLink(deps, caller), links)),
  } satisfies Partial<Handlers>
}
