import { shuffle } from "./random.ts"

/**
 * The data of a user. It is the same for all users and for every size of the world, so that a list
 * of one user is as long among a million vals as among a thousand. A slot is the number of a val
 * among those of its owner; a step is the distance between two users.
 */
export const valsPerUser = 100

/**
 * The users whose lists are measured. The last of the first ten owns the famous vals and is not
 * among them.
 */
export const measuredUsers = 8
export const famousUser = 9
export const usersMin = 10

/** The val in a slot of the user that is `step` users away. */
export interface Tie {
  readonly step: number
  readonly slot: number
}

export type Privacy = "public" | "unlisted" | "private"

export function privacyOf(slot: number): Privacy {
  const tenth = (slot * 7) % 10
  return tenth < 7 ? "public" : tenth === 7 ? "unlisted" : "private"
}

const slots = Array.from({ length: valsPerUser }, (_, slot) => slot)
const hiddenSlots = slots.filter((slot) => privacyOf(slot) !== "public")

/** The slots of public vals. */
const publicSlots = slots.filter((slot) => privacyOf(slot) === "public")

export function publicSlot(index: number): number {
  return publicSlots[index % publicSlots.length] ?? 0
}

export function versionsOf(slot: number): number {
  return 1 + (slot % 5)
}

/** Most vals hardly ever run, some fill more than a page. */
function runsOf(slot: number): number {
  return [0, 0, 1, 2, 22][Math.floor(slot / 5) % 5] ?? 0
}

/** The slots whose vals have more runs than fit on a page. */
export const busySlots = publicSlots.filter((slot) => runsOf(slot) > 20)

/**
 * A user's runs from first to last. Every fifth run of a val that others may see is by another user.
 */
export const runs: readonly Tie[] = shuffle(
  11,
  slots.flatMap((slot) =>
    Array.from({ length: runsOf(slot) }, (_, index) => ({
      slot,
      step: index % 5 === 4 && privacyOf(slot) !== "private" ? 1 + (index % 9) : 0,
    })),
  ),
)

/** The position of the last run of each slot in the list of runs. */
export const lastRuns: ReadonlyMap<number, number> = new Map(
  runs.map((run, index) => [run.slot, index]),
)

export function likesOf(slot: number): number {
  const rank = publicSlots.indexOf(slot)
  return rank < 0 || rank >= 50 ? 0 : rank < 10 ? 9 : rank < 25 ? 4 : 2
}

/** The vals that a user likes, in addition to the famous ones. */
export const likes: readonly Tie[] = shuffle(
  12,
  publicSlots.flatMap((slot) =>
    Array.from({ length: likesOf(slot) }, (_, index) => ({ slot, step: index + 1 })),
  ),
)

/** Vals of the famous user that all users like. */
export const famousSlots = publicSlots.slice(60, 65)

/** The slot whose vals have more than a page of comments and references. */
export const talkedAboutSlot = publicSlot(0)

/** The comments that a user gives: many on one val, some elsewhere, some on vals of their own. */
export const comments: readonly Tie[] = shuffle(13, [
  ...Array.from({ length: 21 }, (_, index) => ({ slot: talkedAboutSlot, step: 1 + (index % 9) })),
  ...Array.from({ length: 29 }, (_, index) => ({
    slot: publicSlot(1 + index),
    step: 1 + (index % 9),
  })),
  ...Array.from({ length: 10 }, (_, index) => ({ slot: publicSlot(index), step: 0 })),
])

/** The slot whose vals import more than one other. */
export const importingSlot = publicSlot(1)

/** The imports of the vals of a user. */
export const dependencies: readonly { readonly from: number; readonly to: Tie }[] = [
  ...[...publicSlots.slice(30, 52), ...hiddenSlots.slice(0, 3)].map((from, index) => ({
    from,
    to: { slot: talkedAboutSlot, step: 1 + (index % 9) },
  })),
  ...Array.from({ length: 9 }, (_, index) => ({
    from: importingSlot,
    to: { slot: publicSlot(2 + index), step: 1 + index },
  })),
]

/** Every user has a val that imports the same one of the famous user's. */
export const famousImport = { from: publicSlot(69), to: publicSlot(66) }

const referenceCounts = new Map<number, number>()
for (const { from, to } of dependencies) {
  if (privacyOf(from) === "public")
    referenceCounts.set(to.slot, (referenceCounts.get(to.slot) ?? 0) + 1)
}

export function referencesOf(slot: number): number {
  return referenceCounts.get(slot) ?? 0
}
