import {
  createSignInLink,
  endSession,
  getLinkOwner,
  signIn,
} from "../../domain/accounts/sessions.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { json, noContent } from "../response/api-response.ts"
import { page } from "../response/page.ts"
import {
  toNewSessionView,
  toSessionView,
  toSignInLinkOwnerView,
  toSignInLinkView,
} from "../views/session-views.ts"

/** Browser sessions and sign-in links. */
export function sessionHandlers({ accounts, api: { links, sessionCookie } }: Nouns) {
  const signedOut = { ...noContent(), headers: { "set-cookie": sessionCookie.clear } }
  return {
    createSession: async ({ body, request }) => {
      const replaced = sessionCookie.findReplaced(request)
      const { session, text } = await signIn(accounts, {
        ...body,
        userAgent: request.headers.get("user-agent"),
        replaced,
      })
      const setCookie = sessionCookie.set(text, session.expiresAt - session.createdAt)
      return json(200, toNewSessionView(session, text), { "set-cookie": setCookie })
    },
    findSignInLinkOwner: async ({ body }) =>
      json(200, toSignInLinkOwnerView(await getLinkOwner(accounts, body.code))),
    listSessions: async ({ caller, query, request }) =>
      page(
        links,
        request,
        query,
        await accounts.sessions.list(caller.userId, accounts.now(), query),
        (it) => toSessionView(it, caller.tokenId),
      ),
    deleteSession: async ({ caller, params }) => {
      await endSession(accounts, caller, params.session_id)
      return params.session_id === caller.tokenId ? signedOut : noContent()
    },
    deleteAllSessions: async ({ caller }) => {
      await accounts.sessions.removeAll(caller.userId)
      return signedOut
    },
    signOut: async ({ caller }) => {
      // No effect when the caller uses a token.
      await accounts.sessions.remove(caller.userId, caller.tokenId)
      return signedOut
    },
    createSignInLink: async ({ caller }) =>
      json(200, toSignInLinkView(await createSignInLink(accounts, caller), links)),
  } satisfies Partial<Handlers>
}
