import { randomBytes } from "node:crypto"
import { limits } from "@hamlet/contract"
import { makeOnce } from "../../shared/once.ts"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import { noQuotas, type Quotas } from "../limits/quotas.ts"
import type { Page, PageRequest } from "../paging.ts"
import { type AuditEntry, toAuditEntry } from "./audit.ts"
import { hasTokenShape, makeTokenText } from "./token-text.ts"
import { hashToken, makeToken, type NewTokenRecord, ordinaryScopes } from "./tokens.ts"
import { assertManyUsers, toNewUser, type User, type UserDeps } from "./users.ts"

/** An open invitation. */
export interface Invitation {
  readonly id: string
  readonly note: string | null
  /** The confirmed address that the user gets; null: the user names one. */
  readonly email: string | null
  /** The quotas that the user gets; null for none. */
  readonly quotas: Quotas | null
  /** The name of the administrator; null when the account was deleted. */
  readonly createdBy: string | null
  readonly createdAt: number
  readonly expiresAt: number
}

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

/** What the rules of invitations need. */
export interface InvitationDeps extends Pick<UserDeps, "isForOneUser"> {
  readonly invitations: InvitationStore
  newId(): string
  now(): number
}

const hourMs = 3_600_000

/** Creates an invitation. `code` is the only copy of its secret string. */
export async function createInvitation(
  deps: InvitationDeps,
  caller: Caller,
  input: {
    readonly note: string | null
    readonly hours: number | undefined
    readonly email?: string | null | undefined
    readonly quotas?: PartialQuotas | null | undefined
  },
): Promise<{ readonly invitation: Invitation; readonly code: string }> {
  const made = makeOnce(() => ({
    id: deps.newId(),
    createdAt: deps.now(),
    code: makeTokenText(randomBytes(32), "invitation"),
  }))
  const { id, createdAt, code } = made
  const expiresAt = createdAt + (input.hours ?? limits.invitationHoursDefault) * hourMs
  const { note, email = null } = input
  const quotas = input.quotas ? { ...noQuotas, ...withoutUndefined(input.quotas) } : null
  const kept = { id, note, email, quotas, createdAt, expiresAt }
  const audit = toAuditEntry(
    deps,
    caller,
    "invitation.create",
    { id: kept.id, name: note },
    { ...(email === null ? {} : { email }), ...(input.quotas ? { quotas: input.quotas } : {}) },
  )
  const record = { ...kept, hash: hashToken(code), creatorId: caller.userId }
  if (!(await deps.invitations.add(record, limits.invitationsMax, audit)))
    throw new AppError(
      "too_many_invitations",
      `Cannot invite: ${limits.invitationsMax} invitations are open already`,
    )
  return { invitation: { ...kept, createdBy: caller.username }, code }
}

type PartialQuotas = { readonly [Name in keyof Quotas]?: number | null | undefined }

function withoutUndefined(quotas: PartialQuotas): Partial<Quotas> {
  return Object.fromEntries(Object.entries(quotas).filter(([, quota]) => quota !== undefined))
}

/** Revokes an invitation. Its link stops working at once. */
export async function revokeInvitation(
  deps: InvitationDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  const audit = toAuditEntry(deps, caller, "invitation.revoke", { id, name: null })
  if (!(await deps.invitations.remove(id, audit)))
    throw new AppError(
      "invitation_not_found",
      `Cannot revoke invitation "${id}": there is no open one with that id`,
    )
}

/** Creates a user from an invitation. When the name is taken, the invitation stays valid. */
export async function acceptInvitation(
  deps: InvitationDeps,
  input: { readonly code: string; readonly username: string; readonly email: string | null },
): Promise<{ readonly user: User; readonly token: string }> {
  assertManyUsers(deps, input.username)
  const user = toNewUser(deps, input.username, input.email)
  const { record, text } = makeToken(deps, user.id, {
    name: "first token",
    scopes: ordinaryScopes,
    expiresAt: null,
  })
  const audit = toAuditEntry(
    deps,
    { userId: user.id, username: user.username },
    "invitation.accept",
  )
  const acceptance = hasTokenShape(input.code, "invitation")
    ? await deps.invitations.accept(hashToken(input.code), user, record, audit)
    : "invalid"
  if (acceptance === "username_taken")
    throw new AppError(
      "username_taken",
      `Cannot create user "${input.username}": another user has that name`,
    )
  if (acceptance === "invalid")
    throw new AppError(
      "invitation_not_found",
      "Cannot accept the invitation: it was used or revoked, has expired, or never existed",
    )
  return { user: acceptance, token: text }
}
