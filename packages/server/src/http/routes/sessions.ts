import type { newSession, session, signInLink, signInLinkOwner } from "@hamlet/contract"
import type { z } from "zod"
import {
  createSignInLink,
  endSession,
  getLinkOwner,
  type LinkOwner,
  type Session,
  signIn,
} from "../../domain/accounts/sessions.ts"
import { toPageKey } from "../../shared/cookies.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { json, noContent } from "../response/api-response.ts"
import type { Links } from "../response/links.ts"
import { page } from "../response/page.ts"

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

/** A session without its secret string; `currentId` is the session of the request. */
function toSessionView(it: Session, currentId: string): z.infer<typeof session> {
  return {
    id: it.id,
    userAgent: it.userAgent,
    createdAt: new Date(it.createdAt).toISOString(),
    expiresAt: new Date(it.expiresAt).toISOString(),
    lastUsedAt: it.lastUsedAt === null ? null : new Date(it.lastUsedAt).toISOString(),
    current: it.id === currentId,
  }
}

/** A new session, with the key that the page stores. */
export function toNewSessionView(it: Session, text: string): z.infer<typeof newSession> {
  return { ...toSessionView(it, it.id), pageKey: toPageKey(text) }
}

/** The owner of a sign-in link. */
function toSignInLinkOwnerView(it: LinkOwner): z.infer<typeof signInLinkOwner> {
  return { username: it.username, expiresAt: new Date(it.expiresAt).toISOString() }
}

/** A sign-in link. */
function toSignInLinkView(
  it: { readonly code: string; readonly expiresAt: number },
  links: Links,
): z.infer<typeof signInLink> {
  return { url: links.signIn(it.code), expiresAt: new Date(it.expiresAt).toISOString() }
}
