import { randomBytes } from "node:crypto"
import { limits, type orgInvitation } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import { makeOnce } from "@hamlet/kit"
import type { Caller } from "../access/caller.ts"
import type { Role } from "../access/roles.ts"
import { type AuditEntry, toAuditEntry } from "../accounts/audit.ts"
import { hashToken, hasTokenShape, makeTokenText } from "../accounts/token-text.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Stored } from "../records/stored.ts"
import {
  type Full,
  type Organisation,
  type Organisations,
  toFullError,
  toSubject,
} from "./organisations.ts"

/** An open invitation into an organisation. */
export type OrgInvitation = Stored<typeof orgInvitation>

/** An invitation to be stored. */
export interface NewOrgInvitation extends Omit<OrgInvitation, "createdBy"> {
  readonly orgId: string
  readonly creatorId: string
  readonly hash: string
}

/** Stores invitations into organisations. Each change writes its audit log entry. */
export interface OrgInvitationStore {
  list(id: string, at: number, page: PageRequest): Promise<Page<OrgInvitation>>
  /** False when `countMax` of the organisation are open. */
  add(invitation: NewOrgInvitation, countMax: number, audit: AuditEntry): Promise<boolean>
  remove(id: string, invitationId: string, audit: AuditEntry): Promise<boolean>
  /** Uses up the invitation with that hash. Returns its organisation, and the role there. */
  join(
    hash: string,
    userId: string,
    audit: AuditEntry,
  ): Promise<{ readonly orgId: string; readonly role: Role } | "invalid" | Full>
}

const invitationMs = limits.invitationHoursDefault * 3_600_000
const invitationsPerOrgMax = 100

/** The rules of invitations into organisations. */
export type OrgInvitations = ReturnType<typeof createOrgInvitations>

/** Creates the rules of invitations into organisations. */
export function createOrgInvitations(
  store: OrgInvitationStore,
  { get, getFor }: Pick<Organisations, "get" | "getFor">,
  clock: Clock,
) {
  return {
    async list(caller: Caller, id: string, page: PageRequest) {
      const { org } = await getFor(caller, id, "owner", "list the invitations")
      return store.list(org.id, clock.now(), page)
    },
    /** Creates an invitation. `code` is the only copy of its secret string. */
    async invite(
      caller: Caller,
      id: string,
      input: {
        readonly role: Role
        readonly email: string | null
        readonly expiresAt: number | null
      },
    ): Promise<{ readonly invitation: OrgInvitation; readonly code: string }> {
      const { org } = await getFor(caller, id, "owner", "invite a person")
      const made = makeOnce(() => ({
        id: clock.newId(),
        createdAt: clock.now(),
        code: makeTokenText(randomBytes(32), "invitation"),
      }))
      const { role, email } = input
      const expiresAt = input.expiresAt ?? made.createdAt + invitationMs
      assertInvitationTime(expiresAt, made.createdAt)
      const invitation = { id: made.id, role, email, createdAt: made.createdAt, expiresAt }
      const record = {
        ...invitation,
        orgId: org.id,
        creatorId: caller.actorId,
        hash: hashToken(made.code),
      }
      const audit = toAuditEntry(clock, caller, "member.invite", toSubject(org), { role, email })
      if (!(await store.add(record, invitationsPerOrgMax, audit)))
        throw new AppError(
          "too_many_invitations",
          `Cannot invite: ${org.username} has ${invitationsPerOrgMax} open invitations already`,
        )
      return { invitation: { ...invitation, createdBy: caller.actorName }, code: made.code }
    },
    async revoke(caller: Caller, id: string, invitationId: string): Promise<void> {
      const { org } = await getFor(caller, id, "owner", "revoke an invitation")
      const audit = toAuditEntry(clock, caller, "invitation.revoke", toSubject(org))
      if (await store.remove(org.id, invitationId, audit)) return
      throw new AppError(
        "invitation_not_found",
        `Cannot revoke invitation "${invitationId}": ${org.username} has no open one with that id`,
      )
    },
    /** Joins the organisation that the code of an invitation leads into. */
    async join(caller: Caller, code: string): Promise<Organisation> {
      const audit = toAuditEntry(clock, caller, "member.join", { id: null, name: null })
      const result = hasTokenShape(code, "invitation")
        ? await store.join(hashToken(code), caller.actorId, audit)
        : "invalid"
      if (result === "invalid")
        throw new AppError(
          "invitation_not_found",
          "Cannot join: the invitation was used or revoked, has expired, is for another address, or never existed",
        )
      if (typeof result === "string") throw toFullError(result, "the organisation")
      return get(
        { ...caller, roles: new Map([...caller.roles, [result.orgId, result.role]]) },
        result.orgId,
      )
    },
  }
}

function assertInvitationTime(expiresAt: number, now: number): void {
  if (expiresAt > now) return
  throw new AppError("invalid_request", 'Cannot invite: "expiresAt" must be in the future', {
    issues: [{ path: "expiresAt", message: "must be in the future" }],
  })
}
