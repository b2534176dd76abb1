/** Counts what users are sending at the moment: it takes room before it belongs to a blob, and no quota knows of it yet. */
export interface Uploads {
  /** False when it would be too much. */
  add(userId: string, bytes: number): boolean
  remove(userId: string, bytes: number): void
}

/** Each user may be sending so many bytes at a time. */
export function createUploads(bytesMax: number): Uploads {
  const bytesOf = new Map<string, number>()
  return {
    add(userId, bytes) {
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
