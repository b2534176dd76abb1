import type { Database } from "./database.ts"

/** How much is remembered. */
export interface RememberLimits {
  readonly weightMax: number
}

/**
 * Remembers what was found for as long as the database has not changed, however it was changed, so that nobody is ever given
 * anything old. Where asking whether it has changed costs as much as looking, nothing is remembered.
 */
export function remember<Value>(
  db: Database,
  find: (key: string) => Promise<Value | undefined>,
  limits: RememberLimits,
  weigh: (value: Value) => number,
): (key: string) => Promise<Value | undefined> {
  const { stamp } = db
  if (!stamp) return find
  const known = new Map<string, Value>()
  let knownAt = stamp()
  let weight = 0
  return async (key) => {
    const now = stamp()
    if (now !== knownAt || weight > limits.weightMax) {
      known.clear()
      weight = 0
    }
    knownAt = now
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    const value = await find(key)
    // While it was looked for, the database may have changed, or another caller may have found it too.
    if (value !== undefined && knownAt === now && !known.has(key)) {
      known.set(key, value)
      weight += weigh(value)
    }
    return value
  }
}
