import { z } from "zod"
import { limits } from "../limits.ts"
import { id, scope, text, time, url, username } from "./fields.ts"
import { moment, periodQuery } from "./inputs.ts"
import { email, list } from "./lengths.ts"
import { profile } from "./records.ts"

/** A user as an administrator sees them. */
export const account = profile
  .extend({
    // Null unless the account is suspended.
    suspendedAt: time.nullable(),
    // Null unless the account was deleted and its data kept.
    deletedAt: time.nullable(),
  })
  .meta({ id: "Account" })

/** How much a user may use. Null where the limit of the server applies. */
export const quotas = z
  .object({
    runsPerMinute: z.int().min(1).nullable(),
    runsAtOnce: z.int().min(1).nullable(),
    egressBytesPerMinute: z.int().min(1).nullable(),
    storageRequestsPerMinute: z.int().min(1).nullable(),
    blobBytes: z.int().min(0).nullable(),
    sqliteBytes: z.int().min(0).nullable(),
  })
  .meta({ id: "Quotas" })

/**
 * What an administrator sends to change quotas: those that are named, null for the limit of the
 * server.
 */
export const putQuotasBody = quotas
  .partial()
  .refine(
    (body) => Object.values(body).some((value) => value !== undefined),
    "must have at least one quota",
  )

/** What an administrator sends to suspend an account. */
export const suspendBody = z.object({ reason: text(limits.reasonCharsMax).nullable().optional() })

/** Whether the vals, blobs, databases and runs of a deleted user go too. */
export const deleteUserQuery = z.object({ data: z.enum(["keep", "delete"]).default("keep") })

/**
 * What an administrator sends to make a token for a user; without scopes it has all but those of
 * administration.
 */
export const createUserTokenBody = z.object({
  name: text(limits.tokenNameCharsMax, 1).optional(),
  scopes: list(scope, scope.options.length, 1)
    .transform((scopes) => [...new Set(scopes)])
    .optional(),
  expiresAt: moment.nullable().optional(),
})

/** An invitation that was not accepted yet. */
export const invitation = z
  .object({
    id,
    note: z.string().nullable(),
    createdBy: z.string().nullable(),
    createdAt: time,
    expiresAt: time,
  })
  .meta({ id: "Invitation" })

/** An invitation that was just made, with its link. */
export const newInvitation = invitation.extend({ url }).meta({ id: "NewInvitation" })

/** What an administrator sends to invite a person. */
export const createInvitationBody = z.object({
  note: text(limits.noteCharsMax).nullable().optional(),
  hours: z.int().min(1).max(limits.invitationHoursMax).optional(),
})

/**
 * What a person sends to accept an invitation: what the link has after `#code=`, and the name they
 * choose.
 */
export const acceptInvitationBody = z.object({
  code: text(limits.tokenCharsMax, 1),
  username,
  email: email(limits.emailCharsMax).nullable().optional(),
})

/** The invitation that a path names. */
export const invitationParams = z.object({
  invitation_id: id.transform((value) => value.toLowerCase()),
})

/** What administrators do, as the audit log names it. */
export const auditAction = z.enum([
  "user.create",
  "user.suspend",
  "user.unsuspend",
  "user.delete",
  "user.delete_with_data",
  "user.set_quotas",
  "token.create",
  "invitation.create",
  "invitation.revoke",
  "invitation.accept",
  "backup.read",
  "key.rotate",
])

/** An act of an administrator. */
export const auditEntry = z
  .object({
    id,
    at: time,
    action: auditAction,
    // The id is null where the operator acted on the machine itself, without the API.
    actor: z.object({ id: id.nullable(), username: z.string() }),
    // The user or the invitation that it concerns.
    subject: z.object({ id: id.nullable(), name: z.string().nullable() }),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "AuditEntry" })

/** The query of the audit log. */
export const auditQuery = periodQuery.extend({ action: auditAction.optional() })

/** What an administrator did, as the audit log names it. */
export type AuditAction = z.infer<typeof auditAction>
