import type { Page, PageRequest } from "@hamlet/database/page"
import type { Caller } from "../access/caller.ts"
import type { Role } from "../access/roles.ts"
import { type AuditEntry, toAuditEntry } from "../accounts/audit.ts"
import { userNotFound } from "../accounts/users.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import {
  type Full,
  type Organisations,
  orgNotFound,
  toFullError,
  toSubject,
} from "./organisations.ts"

/** A person in an organisation, or invited to it. */
export interface Member {
  readonly user: { readonly id: string; readonly username: string }
  readonly role: Role
  readonly createdAt: number
  readonly pending: boolean
}

/** A membership, as its person sees it. */
export interface Membership extends Omit<Member, "user"> {
  readonly org: { readonly id: string; readonly username: string }
}

/**
 * Stores members. Changes of one organisation happen one after the other, and each writes its audit log
 * entry in the same transaction.
 */
export interface MemberStore {
  /** The roles of a person in organisations, by their ids. */
  findRoles(userId: string): Promise<ReadonlyMap<string, Role>>
  listMemberships(userId: string, page: PageRequest): Promise<Page<Membership>>
  list(id: string, page: PageRequest): Promise<Page<Member>>
  /** Changes the role of a member, or invites the user. */
  put(
    id: string,
    userId: string,
    role: Role,
    audit: AuditEntry,
  ): Promise<Member | "no_user" | "last_owner" | "too_many_invitations" | Full>
  remove(
    id: string,
    userId: string,
    audit: AuditEntry,
  ): Promise<"removed" | "no_member" | "last_owner">
  accept(id: string, userId: string, audit: AuditEntry): Promise<"joined" | "not_invited" | Full>
  decline(id: string, userId: string, audit: AuditEntry): Promise<boolean>
}

/** The rules of members. */
export type Members = ReturnType<typeof createMembers>

/** Creates the rules of the members of organisations. */
export function createMembers(
  store: MemberStore,
  { getFor }: Pick<Organisations, "getFor">,
  clock: Clock,
) {
  return {
    /** The organisations that the caller belongs to, or is invited to. */
    listMemberships: (caller: Caller, page: PageRequest) =>
      store.listMemberships(caller.actorId, page),
    async list(caller: Caller, id: string, page: PageRequest): Promise<Page<Member>> {
      const { org } = await getFor(caller, id, "viewer", "list the members")
      return store.list(org.id, page)
    },
    /** Changes the role of a member, or invites a user, who has to accept. */
    async put(caller: Caller, id: string, userId: string, role: Role): Promise<Member> {
      const { org } = await getFor(caller, id, "owner", "change the members")
      const audit = toAuditEntry(clock, caller, "member.change", toSubject(org), { userId, role })
      const member = await store.put(org.id, userId, role, audit)
      if (member === "no_user") throw userNotFound(userId)
      if (member === "last_owner") throw lastOwner(org.username)
      if (member === "too_many_invitations")
        throw new AppError(
          member,
          `Cannot invite user "${userId}": the user has too many open invitations`,
        )
      if (typeof member === "string") throw toFullError(member, org.username)
      return member
    },
    /** Removes a member. A member may leave. */
    async remove(caller: Caller, id: string, userId: string): Promise<void> {
      const needed = userId === caller.actorId ? "viewer" : "owner"
      const { org } = await getFor(caller, id, needed, "remove a member")
      const audit = toAuditEntry(clock, caller, "member.remove", toSubject(org), { userId })
      const result = await store.remove(org.id, userId, audit)
      if (result === "last_owner") throw lastOwner(org.username)
      if (result === "no_member")
        throw new AppError(
          "member_not_found",
          `Cannot remove member "${userId}": ${org.username} has no such member`,
        )
    },
    async accept(caller: Caller, id: string): Promise<void> {
      const audit = toAuditEntry(clock, caller, "member.join", { id, name: null })
      const result = await store.accept(id, caller.actorId, audit)
      if (result === "not_invited") throw orgNotFound(id)
      if (result !== "joined") throw toFullError(result, id)
    },
    async decline(caller: Caller, id: string): Promise<void> {
      const audit = toAuditEntry(clock, caller, "member.decline", { id, name: null })
      if (!(await store.decline(id, caller.actorId, audit))) throw orgNotFound(id)
    },
  }
}

/** The error for a change that would leave an organisation without an owner. */
export function lastOwner(name: string): AppError {
  return new AppError(
    "last_owner",
    `Cannot do this: ${name} would have no owner; make another member an owner first`,
  )
}
