import { limits } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import type { Caller } from "../access/caller.ts"
import { roleTooLow } from "../access/rights.ts"
import { isAtLeast, type Role } from "../access/roles.ts"
import { type AuditEntry, type AuditSubject, toAuditEntry } from "../accounts/audit.ts"
import { toNewUser, type User, usernameTaken } from "../accounts/users.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"

/** An organisation, and the role of the person who asks. */
export interface Organisation extends User {
  readonly role: Role
  readonly members: number
}

/** What keeps a member from being added. */
export type Full = "too_many_members" | "too_many_organisations"

/** Stores organisations, and writes the audit log entry of a change in its transaction. */
export interface OrganisationStore {
  /** The person becomes its owner. */
  add(org: User, ownerId: string, audit: AuditEntry): Promise<"added" | "username_taken" | Full>
  /** By id or name. Undefined if there is none. */
  find(idOrName: string): Promise<User | undefined>
  countMembers(id: string): Promise<number>
  change(id: string, bio: string | null): Promise<User | undefined>
  listOf(userId: string, page: PageRequest): Promise<Page<Organisation>>
}

/** Who may create organisations. */
export type OrgCreation = "everyone" | "admins"

/** The rules of organisations. */
export type Organisations = ReturnType<typeof createOrganisations>

/** Creates the rules of organisations. `close` deletes an account with all that belongs to it. */
export function createOrganisations(
  store: OrganisationStore,
  close: (id: string, audit: AuditEntry) => Promise<boolean>,
  creation: OrgCreation,
  clock: Clock,
) {
  /** The organisation, for a caller who has at least that role in it. `action` says what for. */
  const getFor = async (caller: Caller, idOrName: string, needed: Role, action: string) => {
    const org = await store.find(idOrName)
    const role = org && caller.roles.get(org.id)
    if (!org || org.id === caller.actorId || role === undefined) throw orgNotFound(idOrName)
    if (!isAtLeast(role, needed)) throw roleTooLow(action, org.username)
    return { org, role }
  }
  const get = async (caller: Caller, idOrName: string): Promise<Organisation> => {
    const { org, role } = await getFor(caller, idOrName, "viewer", "show the organisation")
    return { ...org, role, members: await store.countMembers(org.id) }
  }
  return {
    get,
    getFor,
    /**
     * The caller as one who acts for the owner, by id or name: an organisation that the person belongs
     * to, or the person. `needed` is the role that the request needs.
     */
    async actFor(caller: Caller, owner: string, needed: Role): Promise<Caller> {
      const wanted = owner.replace(/^@/, "")
      const isPerson =
        wanted === caller.actorId || wanted.toLowerCase() === caller.actorName.toLowerCase()
      if (isPerson && caller.roles.has(caller.actorId)) {
        const { actorId, actorName } = caller
        return { ...caller, ownerId: actorId, ownerName: actorName }
      }
      const { org } = await getFor(caller, wanted, needed, "do this")
      return { ...caller, ownerId: org.id, ownerName: org.username }
    },
    list: (caller: Caller, page: PageRequest) => store.listOf(caller.actorId, page),
    async create(
      caller: Caller,
      input: { readonly username: string; readonly bio: string | null },
    ): Promise<Organisation> {
      const { username, bio } = input
      if (creation === "admins" && !caller.scopes.has("admin"))
        throw new AppError(
          "missing_scope",
          `Cannot create organisation "${username}": only administrators may create organisations here, and the token does not have the required permissions (scope admin)`,
        )
      const org = { ...toNewUser(clock, username, null), isOrg: true, bio }
      const added = await store.add(
        org,
        caller.actorId,
        toAuditEntry(clock, caller, "org.create", toSubject(org)),
      )
      if (added === "username_taken") throw usernameTaken(username)
      if (added !== "added") throw toFullError(added, username)
      return { ...org, role: "owner", members: 1 }
    },
    async update(caller: Caller, id: string, { bio }: { readonly bio: string | null }) {
      const { org, role } = await getFor(caller, id, "owner", "change the organisation")
      const changed = await store.change(org.id, bio)
      if (!changed) throw orgNotFound(id)
      return { ...changed, role, members: await store.countMembers(org.id) }
    },
    /** Deletes an organisation. What it owns is deleted in the background. */
    async delete(caller: Caller, id: string, confirm: string): Promise<void> {
      const { org } = await getFor(caller, id, "owner", "delete the organisation")
      if (confirm !== org.username) {
        const issues = [{ path: "confirm", message: "must be the name of the organisation" }]
        throw new AppError(
          "invalid_request",
          `Cannot delete organisation "${org.username}": "confirm" must be its name`,
          { issues },
        )
      }
      if (!(await close(org.id, toAuditEntry(clock, caller, "org.delete", toSubject(org)))))
        throw orgNotFound(id)
    },
  }
}

/** The organisation as the audit log names it. */
export function toSubject({ id, username }: User): AuditSubject {
  return { id, name: username }
}

/** The error for an organisation that there is not, or that the caller does not belong to. */
export function orgNotFound(which: string): AppError {
  return new AppError("org_not_found", `Cannot find organisation "${which}"`)
}

/** The error for an organisation, or a person, that is full. */
export function toFullError(code: Full, name: string): AppError {
  return code === "too_many_members"
    ? new AppError(
        code,
        `Cannot add a member to ${name}: it has ${limits.membersPerOrganisationMax} already`,
      )
    : new AppError(
        code,
        `Cannot join ${name}: a person can belong to ${limits.organisationsPerUserMax} organisations`,
      )
}
