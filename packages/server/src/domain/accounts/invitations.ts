import { randomBytes } from "node:crypto"
import { type invitation, limits } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import { makeOnce } from "@hamlet/kit"
import type { Caller } from "../access/caller.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import { noQuotas, type Quotas } from "../limits/quotas.ts"
import type { Stored } from "../records/stored.ts"
import { type AuditEntry, toAuditEntry } from "./audit.ts"
import { hashToken, hasTokenShape, makeTokenText } from "./token-text.ts"
import type { NewTokenRecord } from "./tokens.ts"
import { makeFirstToken, toNewUser, type User, type Users, usernameTaken } from "./users.ts"

/** An open invitation. It has no creator when that account was deleted. */
export type Invitation = Stored<typeof invitation>

/** An invitation to be stored. */
export interface NewInvitation extends Omit<Invitation, "createdBy"> {
  readonly hash: string
  readonly creatorId: string
}

/** The user as it was created, or why it was not. */
export type Acceptance = User | "invalid" | "username_taken"

/** Stores invitations until they are accepted, revoked or expired. */
export interface InvitationStore {
  /** The invitations that have not expired, newest first. */
  list(at: number, page: PageRequest): Promise<Page<Invitation>>
  /** Returns false when `countMax` invitations are open already. */
  add(invitation: NewInvitation, countMax: number, audit: AuditEntry): Promise<boolean>
  /** Returns false when there is none with that id. */
  remove(id: string, audit: AuditEntry): Promise<boolean>
  /** Deletes the invitation and adds the user, in one transaction. */
  accept(hash: string, user: User, token: NewTokenRecord, audit: AuditEntry): Promise<Acceptance>
}

/** What an administrator chooses about an invitation. */
export interface InvitationInput {
  readonly note: string | null
  readonly hours: number | undefined
  readonly email?: string | null | undefined
  readonly quotas?: PartialQuotas | null | undefined
}

const hourMs = 3_600_000

/** The rules of invitations. */
export type Invitations = ReturnType<typeof createInvitations>

/** Creates the rules of invitations. */
export function createInvitations(store: InvitationStore, users: Users, clock: Clock) {
  return {
    list: (page: PageRequest) => store.list(clock.now(), page),
    /** Creates an invitation. `code` is the only copy of its secret string. */
    async create(
      caller: Caller,
      input: InvitationInput,
    ): Promise<{ readonly invitation: Invitation; readonly code: string }> {
      const { id, createdAt, code } = makeOnce(() => ({
        id: clock.newId(),
        createdAt: clock.now(),
        code: makeTokenText(randomBytes(32), "invitation"),
      }))
      const expiresAt = createdAt + (input.hours ?? limits.invitationHoursDefault) * hourMs
      const { note, email = null } = input
      const quotas = input.quotas ? { ...noQuotas, ...withoutUndefined(input.quotas) } : null
      const kept = { id, note, email, quotas, createdAt, expiresAt }
      const details = {
        ...(email === null ? {} : { email }),
        ...(input.quotas ? { quotas: input.quotas } : {}),
      }
      const audit = toAuditEntry(clock, caller, "invitation.create", { id, name: note }, details)
      const record = { ...kept, hash: hashToken(code), creatorId: caller.actorId }
      if (!(await store.add(record, limits.invitationsMax, audit)))
        throw new AppError(
          "too_many_invitations",
          `Cannot invite: ${limits.invitationsMax} invitations are open already`,
        )
      return { invitation: { ...kept, createdBy: caller.actorName }, code }
    },
    /** Revokes an invitation. Its link stops working at once. */
    async revoke(caller: Caller, id: string): Promise<void> {
      const audit = toAuditEntry(clock, caller, "invitation.revoke", { id, name: null })
      if (await store.remove(id, audit)) return
      throw new AppError(
        "invitation_not_found",
        `Cannot revoke invitation "${id}": there is no open one with that id`,
      )
    },
    /** Creates a user from an invitation. When the name is taken, the invitation stays valid. */
    async accept({
      code,
      username,
      email,
    }: {
      readonly code: string
      readonly username: string
      readonly email: string | null
    }): Promise<{ readonly user: User; readonly token: string }> {
      users.assertMany(username)
      const user = toNewUser(clock, username, email)
      const { record, text } = makeFirstToken(clock, user)
      const audit = toAuditEntry(
        clock,
        { actorId: user.id, actorName: username },
        "invitation.accept",
      )
      const acceptance = hasTokenShape(code, "invitation")
        ? await store.accept(hashToken(code), user, record, audit)
        : "invalid"
      if (acceptance === "username_taken") throw usernameTaken(username)
      if (acceptance === "invalid") throw invitationInvalid()
      return { user: acceptance, token: text }
    },
  }
}

/** The error for an invitation that creates no user. */
export function invitationInvalid(): AppError {
  return new AppError(
    "invitation_not_found",
    "Cannot accept the invitation: it was used or revoked, has expired, or never existed",
  )
}

type PartialQuotas = { readonly [Name in keyof Quotas]?: number | null | undefined }

function withoutUndefined(quotas: PartialQuotas): Partial<Quotas> {
  return Object.fromEntries(Object.entries(quotas).filter(([, quota]) => quota !== undefined))
}
