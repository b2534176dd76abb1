import { makeName } from "./code.ts"
import { type Marked, placeMarkers } from "./markers.ts"
import { usersMin, valsPerUser } from "./pattern.ts"
import { makeId } from "./random.ts"

const dayMs = 86_400_000

/** Vals are created over two years; runs, likes and comments follow in the next three months. */
const valsBegin = Date.UTC(2024, 0, 1)
const valsMs = 730 * dayMs
export const eventsBegin = valsBegin + valsMs
export const eventsMs = 90 * dayMs

/** Everything about a seeded installation that follows from its size. */
export interface World {
  readonly vals: number
  readonly users: number
  readonly userIds: readonly string[]
  readonly valIds: readonly string[]
  readonly markers: ReadonlyMap<number, Marked>
}

/**
 * Val number n belongs to user n % users: the vals of all users are interleaved in time, as in
 * production.
 */
export function createWorld(vals: number): World {
  const users = vals / valsPerUser
  if (!Number.isInteger(users) || users < usersMin)
    throw new Error(
      `Cannot seed ${vals} vals: the number must be a multiple of ${valsPerUser}, at least ${usersMin * valsPerUser}`,
    )
  return {
    vals,
    users,
    userIds: Array.from({ length: users }, (_, user) => makeId(21, user, userCreatedAt(user))),
    valIds: Array.from({ length: vals }, (_, val) => makeId(22, val, valCreatedAt({ vals }, val))),
    markers: placeMarkers(users),
  }
}

export function userCreatedAt(user: number): number {
  return valsBegin - 365 * dayMs + user * 1_000
}

export function valCreatedAt({ vals }: Pick<World, "vals">, val: number): number {
  return valsBegin + Math.floor((val / vals) * valsMs)
}

/** The number of the val in a slot of the user that is `step` users away. */
export function valNumber(
  { users }: World,
  user: number,
  { step, slot }: { step: number; slot: number },
): number {
  return slot * users + ((user + step) % users)
}

export function valName({ users, markers }: World, val: number): string {
  const slot = Math.floor(val / users)
  const prefix = markers.get(val)?.name
  return prefix === undefined ? makeName(val, slot) : `${prefix}${slot}`
}

export function username(user: number): string {
  return `user${user}`
}

/** The token of user number `user`. */
export function tokenText(user: number): string {
  return `token-of-user-${user}-for-measuring-only`
}

/**
 * The time of the event at a position among a user's `count` events of the same kind. For the first
 * users, who are measured, it is the same in a world of any size, so that a period contains the same
 * items.
 */
export function eventAt({ users }: World, user: number, place: number, count: number): number {
  const part = (user % usersMin) / usersMin + Math.floor(user / usersMin) / users
  return eventsBegin + Math.floor(((place + part) / count) * eventsMs)
}
