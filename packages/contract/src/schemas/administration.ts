import { z } from "zod"
import { limits } from "../limits.ts"
import { auditActions, nodeStates } from "../lists.ts"
import { id, moment, scope, text, time, url, username } from "./fields.ts"
import { periodQuery } from "./inputs.ts"
import { email, list } from "./lengths.ts"
import { profile } from "./records.ts"

/** A user as an administrator sees them. */
export const account = profile
  .extend({
    // Null unless the account is suspended.
    suspendedAt: time.nullable(),
    // Null unless the account was deleted and its data was kept.
    deletedAt: time.nullable(),
  })
  .meta({ id: "Account" })

/** A user's quotas. Null where the server's limit applies. */
export const quotas = z
  .object({
    runsPerMinute: z.int().min(1).nullable(),
    runsAtOnce: z.int().min(1).nullable(),
    egressBytesPerMinute: z.int().min(1).nullable(),
    storageRequestsPerMinute: z.int().min(1).nullable(),
    blobBytes: z.int().min(0).nullable(),
    sqliteBytes: z.int().min(0).nullable(),
    // Each recipient of an email counts.
    mailsPerDay: z.int().min(0).nullable(),
  })
  .meta({ id: "Quotas" })

/** The body of a change of quotas: those to set; null restores the server's limit. */
export const putQuotasBody = quotas
  .partial()
  .refine(
    (body) => Object.values(body).some((value) => value !== undefined),
    "must have at least one quota",
  )

/** The body of a suspension. */
export const suspendBody = z.object({ reason: text(limits.reasonCharsMax).nullable().optional() })

/** Whether the vals, blobs, databases and runs of a deleted user are deleted too. */
export const deleteUserQuery = z.object({ data: z.enum(["keep", "delete"]).default("keep") })

/**
 * The body of a new token for a user; without scopes it has all except those for administration.
 */
export const createUserTokenBody = z.object({
  name: text(limits.tokenNameCharsMax, 1).optional(),
  scopes: list(scope, scope.options.length, 1)
    .transform((scopes) => [...new Set(scopes)])
    .optional(),
  expiresAt: moment.nullable().optional(),
})

/** An open invitation. */
export const invitation = z
  .object({
    id,
    note: z.string().nullable(),
    email: z.string().nullable().describe("The address that the user gets; null for none"),
    quotas: quotas.nullable().describe("The quotas that the user gets; null for none"),
    createdBy: z.string().nullable(),
    createdAt: time,
    expiresAt: time,
  })
  .meta({ id: "Invitation" })

/** A new invitation, with its link. */
export const newInvitation = invitation.extend({ url }).meta({ id: "NewInvitation" })

/** The body of a new invitation. */
export const createInvitationBody = z.object({
  note: text(limits.noteCharsMax).nullable().optional(),
  email: email(limits.emailCharsMax)
    .nullable()
    .describe("The address that the user gets, as confirmed")
    .optional(),
  quotas: quotas.partial().nullable().describe("The quotas that the user gets").optional(),
  hours: z.int().min(1).max(limits.invitationHoursMax).optional(),
})

/** The body to accept an invitation: the code after `#code=` in the link, and the chosen name. */
export const acceptInvitationBody = z.object({
  code: text(limits.tokenCharsMax, 1),
  username,
  email: email(limits.emailCharsMax).nullable().optional(),
})

/** The actions in the audit log. */
export const auditAction = z.enum(auditActions)

/** An entry of the audit log. */
export const auditEntry = z
  .object({
    id,
    at: time,
    action: auditAction,
    // The id is null if the operator acted on the machine itself, without the API.
    actor: z.object({ id: id.nullable(), username: z.string() }),
    // The user or the invitation concerned.
    subject: z.object({ id: id.nullable(), name: z.string().nullable() }),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "AuditEntry" })

/** The query of the audit log. */
export const auditQuery = periodQuery.extend({ action: auditAction.optional() })

/** What a node told about itself when it was last seen. */
export const nodeReport = z
  .object({
    version: z.string(),
    // Null for a node that started before reports had it.
    address: z.string().nullable(),
    schemaVersion: z.int(),
    isolation: z.string(),
    startedAt: time,
    clockSkewMs: z.number(),
    isClockWrong: z.boolean(),
    runs: z.int(),
    waitingRuns: z.int(),
    processes: z.int(),
    cpuLoad: z.number(),
    cpus: z.int(),
    memoryBytes: z.int(),
    valMemoryBytes: z.int(),
    valMemoryBytesMax: z.int(),
  })
  .meta({ id: "NodeReport" })

/** A server process that shares the database with others. */
export const node = z
  .object({
    id,
    host: z.string(),
    pid: z.int(),
    state: z.enum(nodeStates),
    seenAt: time,
    // Null for a node of release 0.2 or older.
    report: nodeReport.nullable(),
  })
  .meta({ id: "Node" })

/** The state of a node. */
export type NodeState = (typeof nodeStates)[number]

/** An action in the audit log. */
export type AuditAction = z.infer<typeof auditAction>
