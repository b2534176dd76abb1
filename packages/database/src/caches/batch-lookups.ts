export interface BatchLookupLimits {
  /** Keys in one batch. */
  readonly keysMax: number
  /** Batches in flight at the same time. */
  readonly batchesMax?: number
}

interface Waiting<V> {
  readonly promise: Promise<V | undefined>
  resolve(value: V | undefined): void
  reject(error: unknown): void
}

/**
 * Gathers lookups by key that happen at the same time and fetches them together: those of one turn
 * of the event loop, or those that arrive while the maximum of batches is in flight. A key is always
 * fetched after its caller requested it, so a caller never gets an older state than a lookup of its
 * own would have found.
 */
export function createBatchLookup<K extends string, V>(
  fetchMany: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>,
  { keysMax, batchesMax = 2 }: BatchLookupLimits,
): (key: K) => Promise<V | undefined> {
  const waiting = new Map<K, Waiting<V>>()
  let batches = 0
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || batches >= batchesMax || waiting.size === 0) return
    isScheduled = true
    setImmediate(flush)
  }

  function flush(): void {
    isScheduled = false
    while (waiting.size > 0 && batches < batchesMax) {
      const batch = new Map(waiting.entries().take(keysMax))
      for (const key of batch.keys()) waiting.delete(key)
      void fetchBatch(batch)
    }
  }

  async function fetchBatch(batch: ReadonlyMap<K, Waiting<V>>): Promise<void> {
    batches += 1
    try {
      const found = await fetchMany([...batch.keys()])
      for (const [key, { resolve }] of batch) resolve(found.get(key))
    } catch (error) {
      for (const { reject } of batch.values()) reject(error)
    } finally {
      batches -= 1
      schedule()
    }
  }

  return (key) => {
    const lookup = waiting.get(key) ?? Promise.withResolvers<V | undefined>()
    waiting.set(key, lookup)
    schedule()
    return lookup.promise
  }
}
