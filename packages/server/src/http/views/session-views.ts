import type { newSession, session, signInLink, signInLinkOwner } from "@hamlet/contract"
import type { z } from "zod"
import type { LinkOwner, Session } from "../../domain/accounts/sessions.ts"
import { toPageKey } from "../../shared/session-cookie.ts"
import type { Links } from "../response/links.ts"

/** A session without its secret string; `currentId` is the session of the request. */
export function toSessionView(it: Session, currentId: string): z.infer<typeof session> {
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
export function toSignInLinkOwnerView(it: LinkOwner): z.infer<typeof signInLinkOwner> {
  return { username: it.username, expiresAt: new Date(it.expiresAt).toISOString() }
}

/** A sign-in link. */
export function toSignInLinkView(
  it: { readonly code: string; readonly expiresAt: number },
  links: Links,
): z.infer<typeof signInLink> {
  return { url: links.signIn(it.code), expiresAt: new Date(it.expiresAt).toISOString() }
}
