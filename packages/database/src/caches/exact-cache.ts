import type { Database } from "../database.ts"

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
  // Promises, so that a cached value costs no new one, and callers that ask at once share one read:
  // nearly every request asks for several values, and hundreds may arrive together.
  const values = new Map<string, Promise<Value | undefined>>()
  let validAt = changeCount()
  let weight = 0
  const read = (key: string) => {
    const found = find(key)
    values.set(key, found)
    // A key without a value is not kept: clients can ask for any number of them.
    const settle = (value?: Value) => {
      if (values.get(key) !== found) return
      if (value === undefined) values.delete(key)
      else weight += weigh(value)
    }
    found.then(settle, () => settle())
    return found
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
