/**
 * Puts an entry into a map in which the one that was used longest ago is the first. That one is
 * dropped if there are more than `countMax`, and returned.
 */
export function keepRecent<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  countMax: number,
): Value | undefined {
  map.delete(key)
  map.set(key, value)
  if (map.size <= countMax) return undefined
  const [oldest = key] = map.keys()
  const dropped = map.get(oldest)
  map.delete(oldest)
  return dropped
}
