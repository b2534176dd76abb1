import type { Item } from "@hamlet/contract/client"
import { computed, effect, signal } from "@preact/signals"
import { titleOwner } from "../../ui/page-states.tsx"
import { readStored, writeStored } from "../data/stored.ts"
import { viewer } from "./session.ts"

/** What the user is in an organisation, or is invited to be. */
export type Membership = Item<"listMyMemberships">

/** What a person may do for an owner. */
export type Role = Membership["role"]

/** The memberships of the user, and the invitations that wait for an answer. */
export const memberships = signal<readonly Membership[]>([])

/** The organisations that the user belongs to. */
export const joined = computed(() => memberships.value.filter(({ pending }) => !pending))

/** The id of the organisation that the user has chosen in this tab; null for none. */
const chosenId = signal<string | null>(null)

/**
 * The organisation for which the user acts; undefined when it is the user. A choice that is no longer
 * valid counts as none.
 */
export const acting = computed(() => joined.value.find(({ org }) => org.id === chosenId.value))

/** Counts refusals of requests for the organisation: the membership may have ended. */
export const refusals = signal(0)

effect(() => {
  titleOwner.value = acting.value?.org.username
})

/** The owner whose vals, runs and data the app shows: the user, or the chosen organisation. */
export function currentOwner(): { readonly id: string; readonly username: string } | undefined {
  return acting.value?.org ?? viewer()
}

/** Chooses for whom the user acts; undefined for the user. This browser remembers it. */
export function chooseOwner(orgId: string | undefined): void {
  const { id } = viewer() ?? {}
  chosenId.value = orgId ?? null
  if (id !== undefined) writeStored(toStoredName(id), orgId ?? null)
}

/** Takes over what the user has chosen in this browser before; other users have choices of their own. */
export function restoreOwner(userId: string): void {
  chosenId.value = readStored(toStoredName(userId))
}

function toStoredName(userId: string): string {
  return `hamlet-owner-${userId}`
}

/** The role of the user for an owner; people own themselves. */
export function roleIn(ownerId: string): Role | undefined {
  if (viewer()?.id === ownerId) return "owner"
  return joined.value.find(({ org }) => org.id === ownerId)?.role
}

/** Whether the user may change a val. */
export function canChange({ author }: { readonly author: { readonly id: string } }): boolean {
  const role = roleIn(author.id)
  return role === "owner" || role === "member"
}

/** Whether the user may change what belongs to the current owner. */
export function canChangeOwn(): boolean {
  return acting.value?.role !== "viewer"
}
