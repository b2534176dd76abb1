/** A connection that takes one of a limited number of places. */
export interface Place {
  /** The address of the client. */
  readonly address: string
  /** When it last did something. */
  readonly activeMs: number
  /** Whether the server works for it: then it keeps its place. */
  readonly isBusy: boolean
}

/**
 * The key of the connection that gives way to one from this address: of the address that has most of
 * them, the one that has been idle for longest. An address with connections takes a place of its own
 * rather than one of an address that has as few.
 */
export function findIdlePlace<Key>(
  places: ReadonlyMap<Key, Place>,
  address: string,
): Key | undefined {
  const counts = new Map<string, number>()
  for (const place of places.values())
    counts.set(place.address, (counts.get(place.address) ?? 0) + 1)
  const countMin = (counts.get(address) ?? 0) + 1
  let found: readonly [key: Key, place: Place, count: number] | undefined
  for (const [key, place] of places) {
    const count = counts.get(place.address) ?? 0
    if (place.isBusy || (count < countMin && place.address !== address)) continue
    const isWorse =
      !found || count > found[2] || (count === found[2] && place.activeMs < found[1].activeMs)
    if (isWorse) found = [key, place, count]
  }
  return found?.[0]
}
