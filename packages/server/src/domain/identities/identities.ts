import { type identity, limits, type Scope } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import type { Caller } from "../access/caller.ts"
import { type AuditEntry, toAuditEntry } from "../accounts/audit.ts"
import type { NewSessionRecord, Replacement } from "../accounts/sessions.ts"
import type { User } from "../accounts/users.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Stored } from "../records/stored.ts"
import type { IdentityKey } from "./identity-provider.ts"
import { type ProviderResponse, type SignInAttempts, signInRefused } from "./sign-in-state.ts"

/** A person at the provider, and the user whom a sign-in there signs in here. */
export type LinkedIdentity = Stored<typeof identity> & IdentityKey

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
export type ToSession = (of: {
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

/** The rules of identities. */
export type Identities = ReturnType<typeof createIdentities>

/** Creates the rules of identities. */
export function createIdentities(store: IdentityStore, attempts: SignInAttempts, clock: Clock) {
  return {
    list: (caller: Caller, page: PageRequest) => store.list(caller.actorId, page),
    /** Lets a person at the provider sign the caller in, with the caller's scopes. */
    async link(caller: Caller, input: ProviderResponse): Promise<LinkedIdentity> {
      attempts.assertOffered()
      // What signs in must not outlive the process that asked for it.
      if (!caller.root)
        throw new AppError("invalid_token", "Cannot link an identity: the token belongs to a run")
      const { actorId, actorName } = caller
      const { key, use, readProfile } = await attempts.prove(input)
      const { email } = await readProfile()
      const of = { userId: actorId, scopes: [...caller.scopes] }
      const identity = toNewIdentity(clock, key, email, of)
      const subject = { id: actorId, name: actorName }
      const details = { issuer: key.issuer, scopes: of.scopes }
      const audit = toAuditEntry(clock, caller, "identity.link", subject, details)
      const linked = await store.link(identity, use, limits.identitiesPerUserMax, audit)
      if (linked === "used") throw usedBefore()
      if (linked === "taken") throw identityTaken()
      if (linked === "too_many")
        throw new AppError(
          "too_many_identities",
          `Cannot link another identity: you have ${limits.identitiesPerUserMax} already`,
        )
      return linked
    },
    /** The person at the provider no longer signs the caller in. */
    async unlink(caller: Caller, id: string): Promise<void> {
      const subject = { id: caller.actorId, name: caller.actorName }
      const audit = toAuditEntry(clock, caller, "identity.unlink", subject)
      if (await store.remove(caller.actorId, id, audit)) return
      throw new AppError(
        "identity_not_found",
        `Cannot unlink identity "${id}": you have none with that id`,
      )
    },
  }
}

/** An identity to be stored. */
export function toNewIdentity(
  { newId, now }: Clock,
  { issuer, subject }: IdentityKey,
  email: string | null,
  of: { readonly userId: string; readonly scopes: readonly Scope[] },
): NewIdentity {
  return { id: newId(), issuer, subject, email, createdAt: now(), ...of }
}

/** The error for a response of the provider that comes a second time. */
export function usedBefore(): AppError {
  return signInRefused("the response of the provider was used before")
}

/** The error for a person at the provider who is another user here. */
export function identityTaken(): AppError {
  return new AppError(
    "identity_taken",
    "Cannot link this account of the provider: it signs in another user already",
  )
}
