import { chooseLimits, isBrief } from "../harness/brief.ts"
import { median } from "../harness/stats.ts"
import { measuredUsers } from "../seed/pattern.ts"
import { tokenText, type World } from "../seed/world.ts"
import { Asker, type Case } from "./cases.ts"

const limits = chooseLimits(
  { rounds: 12, requestsPerRound: 25, warmUpRequests: 16 },
  { rounds: 1, requestsPerRound: 1, warmUpRequests: 0 },
)

/** A server with its world. */
export interface Place {
  readonly url: string
  readonly world: World
}

export interface Measured {
  readonly smallMs: number
  readonly largeMs: number
  /** The number of items in the responses; of both worlds where they differ. */
  readonly items: string
}

/**
 * One client requests the lists of the same few users from both servers alternately. The best round
 * of each server counts, by its median: other load on the machine makes a round slower, never
 * faster.
 */
export async function measureCase(it: Case, small: Place, large: Place): Promise<Measured> {
  const items = await countItems(it, small)
  const itemsOfLarge = await countItems(it, large)
  // A list that searches has a limit of time, which a busy machine reaches early.
  if (!isBrief && it.msMax === undefined && !it.isInformation && items !== itemsOfLarge) {
    throw new Error(
      `Cannot compare ${it.route} (${it.label}): ${items} items in the small world, ${itemsOfLarge} in the large one`,
    )
  }
  await measureRound(it, small, large, limits.warmUpRequests)
  const rounds: RoundMs[] = []
  for (let round = 0; round < limits.rounds; round++)
    rounds.push(await measureRound(it, small, large, limits.requestsPerRound))
  const itemsOfBoth = items === itemsOfLarge ? String(items) : `${items} → ${itemsOfLarge}`
  return {
    smallMs: Math.min(...rounds.map((round) => round.small)),
    largeMs: Math.min(...rounds.map((round) => round.large)),
    items: itemsOfBoth,
  }
}

async function countItems(it: Case, place: Place): Promise<number> {
  await sendChange(it, place, 0)
  const response = await request(it, place, 0)
  const body = (await response.json()) as {
    readonly data?: readonly unknown[]
    readonly message?: string
  }
  if (!response.ok || !body.data)
    throw new Error(
      `Cannot measure ${it.route} (${it.label}): the server responded ${response.status} ${body.message}`,
    )
  return body.data.length
}

interface RoundMs {
  readonly small: number
  readonly large: number
}

async function measureRound(
  it: Case,
  small: Place,
  large: Place,
  requests: number,
): Promise<RoundMs> {
  const times: { small: number[]; large: number[] } = { small: [], large: [] }
  for (let request = 0; request < requests; request++) {
    times.small.push(await timeRequest(it, small, request % measuredUsers))
    times.large.push(await timeRequest(it, large, request % measuredUsers))
  }
  return { small: median(times.small), large: median(times.large) }
}

async function timeRequest(it: Case, place: Place, user: number): Promise<number> {
  await sendChange(it, place, user)
  const began = performance.now()
  const response = await request(it, place, user)
  await response.arrayBuffer()
  const ms = performance.now() - began
  if (!response.ok)
    throw new Error(
      `Cannot measure ${it.route} (${it.label}): the server responded ${response.status}`,
    )
  return ms
}

/** How many changes of a case were sent for each user of a server. */
const changes = new Map<string, number>()

async function sendChange(it: Case, { url, world }: Place, user: number): Promise<void> {
  const key = `${url} ${it.label} ${user}`
  const count = changes.get(key) ?? 0
  const change = it.change?.(new Asker(world, user), count)
  if (!change) return
  changes.set(key, count + 1)
  const response = await fetch(url + change.path, {
    method: "POST",
    headers: { authorization: `Bearer ${tokenText(user)}`, "content-type": "application/json" },
    body: JSON.stringify(change.body),
  })
  if (!response.ok)
    throw new Error(
      `Cannot measure ${it.route} (${it.label}): the change was refused with ${response.status}: ${await response.text()}`,
    )
}

function request(it: Case, place: Place, user: number): Promise<Response> {
  const headers: Record<string, string> = it.isAnonymous
    ? {}
    : { authorization: `Bearer ${tokenText(user)}` }
  return fetch(place.url + it.path(new Asker(place.world, user)), { headers })
}
