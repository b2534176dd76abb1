/** Counts the bytes of uploads in progress, which use space but are not part of a quota yet. */
export interface Uploads {
  /** Returns false when the user's uploads would exceed `bytesMax`. */
  add(userId: string, bytes: number, bytesMax: number): boolean
  remove(userId: string, bytes: number): void
}

/** Creates the counter of uploads. */
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
