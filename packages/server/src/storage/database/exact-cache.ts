import type { Database } from "./database.ts"

/** How much is remembered. */
export interface ExactCacheLimits {
  readonly weightMax: number
}

/**
 * What was found: at once where it is remembered, because a promise would cost more than the look
 * into the memory.
 */
export type Cached<Value> = Value | Promise<Value | undefined>

/**
 * Remembers what was found for as long as the database has not changed, however it was changed, so
 * that nobody is ever given anything old. Where asking whether it has changed costs as much as
 * looking, nothing is remembered.
 */
export function createExactCache<Value>(
  db: Database,
  find: (key: string) => Promise<Value | undefined>,
  limits: ExactCacheLimits,
  weigh: (value: Value) => number,
): (key: string) => Cached<Value> {
  const { changeCount: stamp } = db
  if (!stamp) return find
  const known = new Map<string, Value>()
  let knownAt = stamp()
  let weight = 0
  const look = async (key: string) => {
    const since = knownAt
    const value = await find(key)
    // While it was looked for, the database may have changed, or another caller may have found it
    // too.
    if (value !== undefined && knownAt === since && !known.has(key)) {
      known.set(key, value)
      weight += weigh(value)
    }
    return value
  }
  return (key) => {
    try {
      const now = stamp()
      if (now !== knownAt || weight > limits.weightMax) {
        known.clear()
        weight = 0
      }
      knownAt = now
    } catch (error) {
      return Promise.reject(error)
    }
    return known.get(key) ?? look(key)
  }
}
