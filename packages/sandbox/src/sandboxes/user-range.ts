import { tryReadText } from "@hamlet/kit"

/** Unused user ids. Each sandbox of a server that runs as root gets one. */
export interface UserRange {
  readonly first: number
  readonly count: number
}

/**
 * Distributions do not use 1879048192 to 2147483647: users and services are far below, containers
 * just below. The lower half is divided into slices, so that two servers on one machine hardly ever
 * share user ids. If they do, their sandboxes are still isolated from each other.
 */
const firstUser = 1_879_048_192
const sliceUsers = 16_384
const slices = 8_192
/** For a container with 65,536 ids: above users, below those of systemd and `nobody`. */
const smallRange: UserRange = { first: 30_000, count: 30_000 }

/** The user ids for sandboxes. Undefined when the user namespace has no unused ids. */
export function chooseUserRange(
  pid: number = process.pid,
  uidMap: string = tryReadText("/proc/self/uid_map"),
): UserRange | undefined {
  const wanted = { first: firstUser + (pid % slices) * sliceUsers, count: sliceUsers }
  return [wanted, smallRange].find((range) => isMapped(range, uidMap))
}

/** An id is used again only after all others. */
export function pickUser(range: UserRange, number: number): number {
  return range.first + (number % range.count)
}

/**
 * One user for the workers of all servers, because the files that it owns outlive the server. It is
 * outside of the slices above.
 */
export function chooseWorkerUser(
  uidMap: string = tryReadText("/proc/self/uid_map"),
): number | undefined {
  const users = [firstUser + slices * sliceUsers, smallRange.first + smallRange.count]
  return users.find((first) => isMapped({ first, count: 1 }, uidMap))
}

/** The map has lines `first-inside first-outside count`. */
function isMapped(range: UserRange, uidMap: string): boolean {
  return uidMap.split("\n").some((line) => {
    const [first = Number.NaN, , count = 0] = line.trim().split(/\s+/).map(Number)
    return first <= range.first && range.first + range.count <= first + count
  })
}
