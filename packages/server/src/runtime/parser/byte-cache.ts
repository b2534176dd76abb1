/** Keeps what was used last, up to a number of bytes. */
export interface ByteCache<Value> {
  get(key: string): Value | undefined
  /** A value that is larger than the whole cache is not kept. */
  set(key: string, value: Value, bytes: number): void
  bytes(): number
}

/**
 * An empty cache for `bytesMax`. What a value weighs is the caller's word; the key comes on top.
 */
export function createByteCache<Value>(bytesMax: number): ByteCache<Value> {
  // A Map keeps the order of insertion, so its first entry is the one not used for longest.
  const entries = new Map<string, { readonly value: Value; readonly bytes: number }>()
  let bytesTotal = 0

  const remove = (key: string) => {
    bytesTotal -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (!entry) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set(key, value, valueBytes) {
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
