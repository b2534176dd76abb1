import { randomBytes } from "node:crypto"
import type { providerSignUp, Scope } from "@hamlet/contract"
import { toAuditEntry } from "../accounts/audit.ts"
import { invitationInvalid } from "../accounts/invitations.ts"
import {
  type Replacement,
  type Sessions,
  type StartedSession,
  toReplacement,
} from "../accounts/sessions.ts"
import { hashToken, hasTokenShape, makeTokenText } from "../accounts/token-text.ts"
import { ordinaryScopes } from "../accounts/tokens.ts"
import { toNewUser, type Users, usernameTaken } from "../accounts/users.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Stored } from "../records/stored.ts"
import {
  type IdentitySignIn,
  type IdentityStore,
  identityTaken,
  type ToSession,
  toNewIdentity,
  usedBefore,
} from "./identities.ts"
import type { IdentityKey, ProviderProfile } from "./identity-provider.ts"
import type { ProviderResponse, SignInAttempts } from "./sign-in-state.ts"
import {
  needsInvitation,
  type SignUpPolicy,
  signUpRefused,
  suggestUsername,
} from "./sign-up-policy.ts"

/** The browser that signs in. */
export interface SigningBrowser {
  readonly userAgent: string | null
  /** The session cookie that the browser had before. */
  readonly replaced: string | undefined
}

/** What a person without an account needs to create one. */
export type OfferedSignUp = Stored<typeof providerSignUp>

/** An account that a person at the provider wants. */
export interface SignUpInput {
  readonly ticket: string
  readonly username: string
  readonly invitation: string | undefined
}

/** Sign-in and sign-up with the provider. */
export type ProviderSignIn = ReturnType<typeof createProviderSignIn>

/** Creates the rules of sign-in with the provider. */
export function createProviderSignIn(
  store: IdentityStore,
  attempts: SignInAttempts,
  policy: SignUpPolicy,
  sessions: Sessions,
  users: Users,
  clock: Clock,
) {
  const startSession = (
    text: string,
    { userAgent }: SigningBrowser,
    of: { readonly userId: string; readonly scopes: readonly Scope[] },
  ) => sessions.make(text, userAgent, { ...of, root: { tokenId: null, expiresAt: null } })
  return {
    start: attempts.begin,
    /**
     * Finishes a sign-in. A person is found by issuer and subject. An email address finds a user only
     * if the operator wants it and both sides have verified the address: otherwise one could enter
     * the address of another person at the provider and take over the account here.
     */
    async finish(
      input: ProviderResponse,
      browser: SigningBrowser,
    ): Promise<StartedSession | OfferedSignUp> {
      const { key, use, readProfile } = await attempts.prove(input)
      const text = makeTokenText(randomBytes(32), "session")
      const toSession: ToSession = (of) => startSession(text, browser, of)
      const replacement = toReplacement(browser.replaced)
      const known = await store.signIn(key, use, toSession, replacement)
      if (known.kind !== "unknown") return toStarted(known, text)
      const profile = await readProfile()
      const linked = policy.linksByEmail
        ? await signInByEmail(store, clock, key, profile, toSession, replacement)
        : known
      if (linked.kind !== "unknown") return toStarted(linked, text)
      const isInvitationNeeded = needsInvitation(policy, profile)
      const { email, isEmailVerified } = profile
      return {
        ticket: attempts.sealTicket({ ...key, email, isEmailVerified }),
        username: suggestUsername(profile),
        email,
        needsInvitation: isInvitationNeeded,
      }
    },
    /** Creates the account of a person who has signed in with the provider. */
    async signUp(input: SignUpInput, browser: SigningBrowser): Promise<StartedSession> {
      attempts.assertOffered()
      const { username, invitation } = input
      const ticket = attempts.openTicket(input.ticket)
      users.assertMany(username)
      if (needsInvitation(policy, ticket) && invitation === undefined)
        throw signUpRefused("you need an invitation to create one")
      if (invitation !== undefined && !hasTokenShape(invitation, "invitation"))
        throw invitationInvalid()
      const { issuer, subject, email, isEmailVerified } = ticket
      const user = { ...toNewUser(clock, username, email), isEmailVerified }
      const of = { userId: user.id, scopes: ordinaryScopes }
      const text = makeTokenText(randomBytes(32), "session")
      const session = startSession(text, browser, of)
      const person = { id: user.id, name: username }
      const actor = { actorId: user.id, actorName: username }
      const added = await store.signUp(
        user,
        toNewIdentity(clock, { issuer, subject }, email, of),
        invitation === undefined ? undefined : hashToken(invitation),
        session,
        toReplacement(browser.replaced),
        toAuditEntry(clock, actor, "user.sign_up", person, { issuer }),
      )
      if (added === "username_taken") throw usernameTaken(username)
      if (added === "identity_taken") throw identityTaken()
      if (added === "invitation_invalid") throw invitationInvalid()
      return { session, text }
    },
  }
}

function signInByEmail(
  store: IdentityStore,
  clock: Clock,
  key: IdentityKey,
  { email, isEmailVerified }: ProviderProfile,
  toSession: ToSession,
  replacement: Replacement,
): Promise<IdentitySignIn> | IdentitySignIn {
  if (!isEmailVerified || email === null) return { kind: "unknown" }
  // Not the administrative scopes: the operator of the provider would have them.
  const of = { userId: "", scopes: ordinaryScopes }
  const { userId: _, ...identity } = toNewIdentity(clock, key, email, of)
  const audit = toAuditEntry(clock, { actorId: null, actorName: "" }, "identity.link", undefined, {
    issuer: key.issuer,
    scopes: ordinaryScopes,
    byEmail: true,
  })
  return store.signInByEmail(identity, email, audit, toSession, replacement)
}

function toStarted(signIn: IdentitySignIn, text: string): StartedSession {
  if (signIn.kind === "signed-in") return { session: signIn.session, text }
  if (signIn.kind === "suspended")
    throw new AppError(
      "user_suspended",
      `Cannot do this: the account of user "${signIn.username}" is suspended`,
    )
  throw usedBefore()
}
