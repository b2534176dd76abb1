/**
 * A function that prepares something when it is first called, for all callers. After a failure the
 * next call tries again.
 */
export function prepareOnce<T>(prepare: () => Promise<T>): () => Promise<T> {
  let preparing: Promise<T> | undefined
  return () => {
    preparing ??= prepare().catch((error: unknown) => {
      preparing = undefined
      throw error
    })
    return preparing
  }
}
