import type { session, signInLink } from "@hamlet/contract"
import type { z } from "zod"
import type { Session } from "../domain/sessions.ts"
import type { Links } from "./links.ts"

/** A session without its secret string; `currentId` is the one that the request came with. */
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

/** A sign-in link. */
export function toSignInLinkView(it: { readonly code: string; readonly expiresAt: number }, links: Links): z.infer<typeof signInLink> {
  return { url: links.signIn(it.code), expiresAt: new Date(it.expiresAt).toISOString() }
}
