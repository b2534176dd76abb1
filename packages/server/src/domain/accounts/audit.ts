import type { AuditAction } from "@hamlet/contract"
import type { Page, PageRequest, Period } from "../paging.ts"

/** An act of an administrator, written down in the transaction that does it. */
export interface AuditEntry {
  readonly id: string
  readonly at: number
  readonly action: AuditAction
  readonly actor: Actor
  readonly subject: AuditSubject
  readonly details: Readonly<Record<string, unknown>>
}

/** The user who acts; the id is null for the operator, who acts on the machine itself. */
export interface Actor {
  readonly userId: string | null
  readonly username: string
}

/** The user or the invitation that an act concerns. Names are kept as they were at that moment. */
export interface AuditSubject {
  readonly id: string | null
  readonly name: string | null
}

/** Which entries to list. */
export interface AuditFilter extends Period {
  readonly action: AuditAction | undefined
}

/** Where the audit log is kept. Nothing changes or removes an entry. */
export interface AuditStore {
  /** For acts that write nothing else. */
  add(entry: AuditEntry): Promise<void>
  /** Newest first. */
  list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>>
}

/** What it takes to make an entry. */
export interface AuditDeps {
  newId(): string
  now(): number
}

/** The operator, who uses the server program on the machine itself. */
export const operator: Actor = { userId: null, username: "operator" }

/** An entry for what is about to be done. */
export function toAuditEntry(
  deps: AuditDeps,
  actor: Actor,
  action: AuditAction,
  subject: AuditSubject = { id: null, name: null },
  details: AuditEntry["details"] = {},
): AuditEntry {
  const { userId, username } = actor
  return { id: deps.newId(), at: deps.now(), action, actor: { userId, username }, subject, details }
}
