export type ByteCache<Value> = ReturnType<typeof createByteCache<Value>>

/**
 * A cache that keeps the most recently used values, up to a number of bytes (LRU). The caller tells
 * the size of each value; the key counts too.
 */
export function createByteCache<Value>(bytesMax: number) {
  // A Map keeps the order of insertion, so its first entry is the least recently used. That is all
  // an LRU needs; a library would bring time-outs, fetching and disposal that nothing here uses.
  const entries = new Map<string, { readonly value: Value; readonly bytes: number }>()
  let bytesTotal = 0

  const remove = (key: string) => {
    bytesTotal -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }

  return {
    get(key: string): Value | undefined {
      const entry = entries.get(key)
      if (!entry) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    /** A value that is larger than the whole cache is not stored. */
    set(key: string, value: Value, valueBytes: number): void {
      const bytes = valueBytes + key.length
      remove(key)
      if (bytes > bytesMax) return
      entries.set(key, { value, bytes })
      bytesTotal += bytes
      for (const oldest of entries.keys()) {
        if (bytesTotal <= bytesMax) return
        remove(oldest)
      }
    },
    bytes: () => bytesTotal,
  }
}
