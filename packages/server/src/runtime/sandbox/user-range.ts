import { readFileSync } from "node:fs"

/** Numbers of users that nobody else has; each sandbox of a server that runs as root gets one. */
export interface UserRange {
  readonly first: number
  readonly count: number
}

/**
 * Distributions leave 1879048192 to 2147483647 to nobody: people and services are far below it,
 * containers just below. The lower half of it is cut into slices, so that two servers on one
 * machine hardly ever share one; if they do, the walls between their sandboxes still stand.
 */
const firstUser = 1_879_048_192
const sliceUsers = 16_384
const slices = 8_192
/** In a container with 65,536 users: above people, below what systemd and `nobody` use. */
const smallRange: UserRange = { first: 30_000, count: 30_000 }

/**
 * The users of this server's sandboxes; undefined when the user namespace we are in has none to
 * spare.
 */
export function chooseUserRange(
  pid: number = process.pid,
  uidMap: string = readUidMap(),
): UserRange | undefined {
  const wanted = { first: firstUser + (pid % slices) * sliceUsers, count: sliceUsers }
  return [wanted, smallRange].find((range) => isMapped(range, uidMap))
}

/** Numbers come round again only after all the others. */
export function pickUser(range: UserRange, number: number): number {
  return range.first + (number % range.count)
}

/**
 * One user for all workers of all servers: the files that it owns outlive the server. It is beyond
 * the slices above.
 */
export function chooseWorkerUser(uidMap: string = readUidMap()): number | undefined {
  const users = [firstUser + slices * sliceUsers, smallRange.first + smallRange.count]
  return users.find((first) => isMapped({ first, count: 1 }, uidMap))
}

/** Lines `first-inside first-outside count`. */
function isMapped(range: UserRange, uidMap: string): boolean {
  return uidMap.split("\n").some((line) => {
    const [first = Number.NaN, , count = 0] = line.trim().split(/\s+/).map(Number)
    return first <= range.first && range.first + range.count <= first + count
  })
}

function readUidMap(): string {
  try {
    return readFileSync("/proc/self/uid_map", "utf8")
  } catch {
    return ""
  }
}
