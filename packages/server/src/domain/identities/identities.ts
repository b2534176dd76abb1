import { randomBytes } from "node:crypto"
import { limits, type Scope } from "@hamlet/contract"
import type { Caller } from "../access.ts"
import { type AuditEntry, toAuditEntry } from "../accounts/audit.ts"
import {
  makeSession,
  type NewSessionRecord,
  type Replacement,
  type Session,
  type SessionDeps,
  toReplacement,
} from "../accounts/sessions.ts"
import { hasTokenShape, makeTokenText } from "../accounts/token-text.ts"
import { hashToken, ordinaryScopes } from "../accounts/tokens.ts"
import { assertManyUsers, toNewUser, type User, type UserDeps } from "../accounts/users.ts"
import { AppError } from "../app-error.ts"
import type { Page, PageRequest } from "../paging.ts"
import type { Cipher } from "../secrets/cipher.ts"
import type { IdentityKey, IdentityProvider, ProviderProfile } from "./identity-provider.ts"
import {
  openAttempt,
  openTicket,
  sealAttempt,
  sealTicket,
  signInRefused,
  stateLimits,
} from "./sign-in-state.ts"
import {
  needsInvitation,
  type SignUpPolicy,
  signUpRefused,
  suggestUsername,
} from "./sign-up-policy.ts"

/** A person at the provider, and the user whom a sign-in there signs in here. */
export interface LinkedIdentity extends IdentityKey {
  readonly id: string
  readonly email: string | null
  readonly createdAt: number
  readonly lastUsedAt: number | null
}

/** An identity to be stored. */
export interface NewIdentity extends Omit<LinkedIdentity, "lastUsedAt"> {
  readonly userId: string
  /** The scopes of the sessions that it starts. */
  readonly scopes: readonly Scope[]
}

/** The use of a provider's response, which is remembered until its attempt expires. */
export interface ResponseUse {
  readonly hash: string
  readonly expiresAt: number
}

/** Creates the session of a user. */
type ToSession = (of: {
  readonly userId: string
  readonly scopes: readonly Scope[]
}) => NewSessionRecord

/** The result of a sign-in. */
export type IdentitySignIn =
  | { readonly kind: "signed-in"; readonly session: NewSessionRecord }
  | { readonly kind: "suspended"; readonly username: string }
  | { readonly kind: "used" | "unknown" }

/** Stores identities. */
export interface IdentityStore {
  /**
   * Notes the use of the response and adds the session, in one transaction. `used` when the
   * response was used before.
   */
  signIn(
    key: IdentityKey,
    use: ResponseUse,
    toSession: ToSession,
    replacement: Replacement,
  ): Promise<IdentitySignIn>
  /**
   * Links the identity to the only active user who has confirmed this address, and adds a session.
   * `unknown` when there is not exactly one.
   */
  signInByEmail(
    identity: Omit<NewIdentity, "userId">,
    email: string,
    audit: AuditEntry,
    toSession: ToSession,
    replacement: Replacement,
  ): Promise<IdentitySignIn>
  /** Adds user, identity and session in one transaction, which uses up the invitation. */
  signUp(
    user: User,
    identity: NewIdentity,
    invitationHash: string | undefined,
    session: NewSessionRecord,
    replacement: Replacement,
    audit: AuditEntry,
  ): Promise<"added" | "username_taken" | "identity_taken" | "invitation_invalid">
  /** Notes the use of the response and adds the identity, unless it is the user's already. */
  link(
    identity: NewIdentity,
    use: ResponseUse,
    countMax: number,
    audit: AuditEntry,
  ): Promise<LinkedIdentity | "used" | "taken" | "too_many">
  list(userId: string, page: PageRequest): Promise<Page<LinkedIdentity>>
  /** Returns false when the user has no such identity. */
  remove(userId: string, id: string, audit: AuditEntry): Promise<boolean>
}

/** What the rules of identities need. */
export interface IdentityDeps extends SessionDeps, Pick<UserDeps, "isForOneUser"> {
  readonly identities: IdentityStore
  /** Undefined if the operator has set none. */
  readonly identityProvider: IdentityProvider | undefined
  readonly signUpPolicy: SignUpPolicy
  readonly cipher: Cipher
}

/** The browser that signs in. */
export interface SigningBrowser {
  readonly userAgent: string | null
  /** The session cookie that the browser had before. */
  readonly replaced: string | undefined
}

/** A session with its secret string. */
export interface StartedSession {
  readonly session: Session
  readonly text: string
}

/** What a person without an account needs to create one. */
export interface OfferedSignUp {
  readonly ticket: string
  readonly username: string | null
  readonly email: string | null
  readonly needsInvitation: boolean
}

/** Begins a sign-in. The page keeps `attempt`, which only this server can read. */
export async function startProviderSignIn(
  deps: IdentityDeps,
): Promise<{ readonly url: string; readonly attempt: string }> {
  const { url, checks } = await getProvider(deps).begin()
  const expiresAt = deps.now() + stateLimits.attemptMs
  return { url, attempt: sealAttempt(deps.cipher, { checks, expiresAt }) }
}

/**
 * Finishes a sign-in. A person is found by issuer and subject. An email address finds a user only
 * if the operator wants it and both sides have verified the address: otherwise one could enter the
 * address of another person at the provider and take over the account here.
 */
export async function finishProviderSignIn(
  deps: IdentityDeps,
  input: { readonly attempt: string; readonly response: string },
  browser: SigningBrowser,
): Promise<StartedSession | OfferedSignUp> {
  const proven = await prove(deps, input)
  const text = makeTokenText(randomBytes(32), "session")
  const toSession: ToSession = (of) => startSession(deps, text, browser, of)
  const replacement = toReplacement(browser.replaced)
  const known = await deps.identities.signIn(proven.key, proven.use, toSession, replacement)
  if (known.kind !== "unknown") return toStarted(known, text)
  const profile = await proven.readProfile()
  const linked = await signInByEmail(deps, proven.key, profile, toSession, replacement)
  if (linked.kind !== "unknown") return toStarted(linked, text)
  const isInvitationNeeded = needsInvitation(deps.signUpPolicy, profile)
  const { email, isEmailVerified } = profile
  const ticket = {
    ...{ ...proven.key, email, isEmailVerified },
    expiresAt: deps.now() + stateLimits.ticketMs,
  }
  return {
    ticket: sealTicket(deps.cipher, ticket),
    username: suggestUsername(profile),
    email,
    needsInvitation: isInvitationNeeded,
  }
}

/** Creates the account of a person who has signed in with the provider. */
export async function signUpWithProvider(
  deps: IdentityDeps,
  input: {
    readonly ticket: string
    readonly username: string
    readonly invitation: string | undefined
  },
  browser: SigningBrowser,
): Promise<StartedSession> {
  getProvider(deps)
  const ticket = openTicket(deps.cipher, input.ticket, deps.now())
  assertManyUsers(deps, input.username)
  const { invitation } = input
  if (needsInvitation(deps.signUpPolicy, ticket) && invitation === undefined)
    throw signUpRefused("you need an invitation to create one")
  if (invitation !== undefined && !hasTokenShape(invitation, "invitation"))
    throw invitationInvalid()
  const { issuer, subject, email, isEmailVerified } = ticket
  const user = { ...toNewUser(deps, input.username, email), isEmailVerified }
  const text = makeTokenText(randomBytes(32), "session")
  const session = startSession(deps, text, browser, { userId: user.id, scopes: ordinaryScopes })
  const audit = toAuditEntry(
    deps,
    { userId: user.id, username: user.username },
    "user.sign_up",
    { id: user.id, name: user.username },
    { issuer },
  )
  const added = await deps.identities.signUp(
    user,
    toNewIdentity(deps, { issuer, subject }, email, { userId: user.id, scopes: ordinaryScopes }),
    invitation === undefined ? undefined : hashToken(invitation),
    session,
    toReplacement(browser.replaced),
    audit,
  )
  if (added === "username_taken")
    throw new AppError(
      "username_taken",
      `Cannot create user "${input.username}": another user has that name`,
    )
  if (added === "identity_taken") throw identityTaken()
  if (added === "invitation_invalid") throw invitationInvalid()
  return { session, text }
}

/** Lets a person at the provider sign the caller in, with the caller's scopes. */
export async function linkIdentity(
  deps: IdentityDeps,
  caller: Caller,
  input: { readonly attempt: string; readonly response: string },
): Promise<LinkedIdentity> {
  getProvider(deps)
  // What signs in must not outlive the process that asked for it.
  if (!caller.root)
    throw new AppError("invalid_token", "Cannot link an identity: the token belongs to a run")
  const proven = await prove(deps, input)
  const { email } = await proven.readProfile()
  const identity = toNewIdentity(deps, proven.key, email, {
    userId: caller.userId,
    scopes: [...caller.scopes],
  })
  const audit = toAuditEntry(
    deps,
    caller,
    "identity.link",
    { id: caller.userId, name: caller.username },
    { issuer: identity.issuer, scopes: identity.scopes },
  )
  const linked = await deps.identities.link(
    identity,
    proven.use,
    limits.identitiesPerUserMax,
    audit,
  )
  if (linked === "used") throw usedBefore()
  if (linked === "taken") throw identityTaken()
  if (linked === "too_many")
    throw new AppError(
      "too_many_identities",
      `Cannot link another identity: you have ${limits.identitiesPerUserMax} already`,
    )
  return linked
}

/** The person at the provider no longer signs the caller in. */
export async function unlinkIdentity(
  deps: Pick<IdentityDeps, "identities" | "newId" | "now">,
  caller: Caller,
  id: string,
): Promise<void> {
  const subject = { id: caller.userId, name: caller.username }
  const audit = toAuditEntry(deps, caller, "identity.unlink", subject)
  if (!(await deps.identities.remove(caller.userId, id, audit)))
    throw new AppError(
      "identity_not_found",
      `Cannot unlink identity "${id}": you have none with that id`,
    )
}

function getProvider({ identityProvider }: IdentityDeps): IdentityProvider {
  if (identityProvider) return identityProvider
  throw new AppError(
    "oidc_unavailable",
    "Cannot sign in with a provider: the operator of this server has set none",
  )
}

async function prove(
  deps: IdentityDeps,
  { attempt, response }: { readonly attempt: string; readonly response: string },
) {
  const provider = getProvider(deps)
  const { checks, expiresAt } = openAttempt(deps.cipher, attempt, deps.now())
  const proven = await provider.finish(response, checks)
  const { issuer, subject } = proven
  return {
    key: { issuer, subject },
    use: { hash: hashToken(checks.state), expiresAt },
    readProfile: () => proven.readProfile(),
  }
}

function signInByEmail(
  deps: IdentityDeps,
  key: IdentityKey,
  { email, isEmailVerified }: ProviderProfile,
  toSession: ToSession,
  replacement: Replacement,
): Promise<IdentitySignIn> | IdentitySignIn {
  if (!deps.signUpPolicy.linksByEmail || !isEmailVerified || email === null)
    return { kind: "unknown" }
  // Not the administrative scopes: the operator of the provider would have them.
  const { userId: _, ...identity } = toNewIdentity(deps, key, email, {
    userId: "",
    scopes: ordinaryScopes,
  })
  const audit = toAuditEntry(deps, { userId: null, username: "" }, "identity.link", undefined, {
    issuer: key.issuer,
    scopes: ordinaryScopes,
    byEmail: true,
  })
  return deps.identities.signInByEmail(identity, email, audit, toSession, replacement)
}

function startSession(
  deps: IdentityDeps,
  text: string,
  { userAgent }: SigningBrowser,
  of: { readonly userId: string; readonly scopes: readonly Scope[] },
): NewSessionRecord {
  return makeSession(deps, text, userAgent, { ...of, root: { tokenId: null, expiresAt: null } })
}

function toNewIdentity(
  deps: IdentityDeps,
  { issuer, subject }: IdentityKey,
  email: string | null,
  of: { readonly userId: string; readonly scopes: readonly Scope[] },
): NewIdentity {
  return { id: deps.newId(), issuer, subject, email, createdAt: deps.now(), ...of }
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

function usedBefore(): AppError {
  return signInRefused("the response of the provider was used before")
}

function identityTaken(): AppError {
  return new AppError(
    "identity_taken",
    "Cannot link this account of the provider: it signs in another user already",
  )
}

function invitationInvalid(): AppError {
  return new AppError(
    "invitation_not_found",
    "Cannot accept the invitation: it was used or revoked, has expired, or never existed",
  )
}
