import type { Database } from "./database.ts"

export interface ExactCacheLimits {
  /** The sum of what `weigh` returns for the cached values. */
  readonly weightMax: number
}

/**
 * Caches what `find` returns for as long as the database has not changed. A commit of any process
 * empties the cache, so that a caller never gets an old value. Where asking for a change costs as
 * much as reading, nothing is cached.
 */
export function createExactCache<Value>(
  db: Database,
  find: (key: string) => Promise<Value | undefined>,
  limits: ExactCacheLimits,
  weigh: (value: Value) => number,
): (key: string) => Promise<Value | undefined> {
  const { changeCount } = db
  if (!changeCount) return find
  // Promises, so that a cached value costs no new one: nearly every request asks for several values.
  const values = new Map<string, Promise<Value>>()
  let validAt = changeCount()
  let weight = 0
  const read = async (key: string) => {
    const since = validAt
    const value = await find(key)
    // Meanwhile the database may have changed, or another caller may have cached the same key.
    if (value !== undefined && validAt === since && !values.has(key)) {
      values.set(key, Promise.resolve(value))
      weight += weigh(value)
    }
    return value
  }
  return (key) => {
    try {
      const now = changeCount()
      if (now !== validAt || weight > limits.weightMax) {
        values.clear()
        weight = 0
        validAt = now
      }
    } catch (error) {
      return Promise.reject(error)
    }
    return values.get(key) ?? read(key)
  }
}
