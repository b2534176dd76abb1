/**
 * Counts what users are sending at the moment: it takes room before it belongs to a blob, and no
 * quota knows of it yet.
 */
export interface Uploads {
  /** False when it would be more than the user may be sending at a time. */
  add(userId: string, bytes: number, bytesMax: number): boolean
  remove(userId: string, bytes: number): void
}

/** Nobody sends anything yet. */
export function createUploads(): Uploads {
  const bytesOf = new Map<string, number>()
  return {
    add(userId, bytes, bytesMax) {
      const next = (bytesOf.get(userId) ?? 0) + bytes
      if (next > bytesMax) return false
      bytesOf.set(userId, next)
      return true
    },
    remove(userId, bytes) {
      const next = (bytesOf.get(userId) ?? 0) - bytes
      if (next > 0) bytesOf.set(userId, next)
      else bytesOf.delete(userId)
    },
  }
}
