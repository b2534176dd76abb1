import { type newSession, session } from "@hamlet/contract"
import type { z } from "zod"
import type { Session } from "../../domain/accounts/sessions.ts"
import { toPageKey } from "../../shared/cookies.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { json, noContent } from "../response/api-response.ts"
import { page } from "../response/page.ts"
import { createView, toTimeText } from "../response/view.ts"

/** Browser sessions and sign-in links. */
export function sessionHandlers({ sessions, signInLinks, api: { links, sessionCookie } }: Nouns) {
  const signedOut = { ...noContent(), headers: { "set-cookie": sessionCookie.clear } }
  return {
    createSession: async ({ body, request }) => {
      const replaced = sessionCookie.findReplaced(request)
      const { session, text } = await sessions.signIn({
        ...body,
        userAgent: request.headers.get("user-agent"),
        replaced,
      })
      const setCookie = sessionCookie.set(text, session.expiresAt - session.createdAt)
      return json(200, toNewSessionView(session, text), { "set-cookie": setCookie })
    },
    findSignInLinkOwner: async ({ body }) => {
      const { username, expiresAt } = await signInLinks.getOwner(body.code)
      return json(200, { username, expiresAt: toTimeText(expiresAt) })
    },
    listSessions: async (call) =>
      page(links, call, await sessions.list(call.caller, call.query), (it) =>
        toSessionView(it, call.caller.tokenId),
      ),
    deleteSession: async ({ caller, params }) => {
      await sessions.end(caller, params.session_id)
      return params.session_id === caller.tokenId ? signedOut : noContent()
    },
    deleteAllSessions: async ({ caller }) => {
      await sessions.endAll(caller)
      return signedOut
    },
    signOut: async ({ caller }) => {
      await sessions.endOwn(caller)
      return signedOut
    },
    createSignInLink: async ({ caller }) => {
      const { code, expiresAt } = await signInLinks.create(caller)
      return json(200, { url: links.signIn(code), expiresAt: toTimeText(expiresAt) })
    },
  } satisfies Partial<Handlers>
}

/** A session without its secret string; `currentId` is the session of the request. */
const toSessionView = createView(session, (it: Session, currentId: string) => ({
  current: it.id === currentId,
}))

/** A new session, with the key that the page stores. */
export function toNewSessionView(it: Session, text: string): z.infer<typeof newSession> {
  return { ...toSessionView(it, it.id), pageKey: toPageKey(text) }
}
