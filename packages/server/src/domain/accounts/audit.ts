import type { AuditAction, auditEntry } from "@hamlet/contract"
import type { Page, PageRequest, Period } from "@hamlet/database/page"
import type { Clock } from "../clock.ts"
import type { Stored } from "../records/stored.ts"

/** An action of an administrator, stored in the transaction that performs it. */
export interface AuditEntry extends Omit<Stored<typeof auditEntry>, "actor"> {
  readonly actor: Actor
}

/** The user who acts. The id is null for the operator, who acts on the machine itself. */
export interface Actor {
  readonly actorId: string | null
  readonly actorName: string
}

/** The user or the invitation that an action concerns, with its name at that time. */
export type AuditSubject = AuditEntry["subject"]

/** Which entries to list. */
export interface AuditFilter extends Period {
  readonly action?: AuditAction | undefined
}

/** Stores the audit log. Entries are never changed or removed. */
export interface AuditStore {
  /** For actions that write nothing else. */
  add(entry: AuditEntry): Promise<void>
  /** Newest first. */
  list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>>
}

/** The operator, who uses the server program on the machine itself. */
export const operator: Actor = { actorId: null, actorName: "operator" }

/** Creates the entry for an action. */
export function toAuditEntry(
  clock: Clock,
  actor: Actor,
  action: AuditAction,
  subject: AuditSubject = { id: null, name: null },
  details: AuditEntry["details"] = {},
): AuditEntry {
  const { actorId, actorName } = actor
  return {
    id: clock.newId(),
    at: clock.now(),
    action,
    actor: { actorId, actorName },
    subject,
    details,
  }
}
