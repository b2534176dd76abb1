/**
 * The value of a promise. Throws the error when it takes longer, or when the signal is aborted; the
 * promise goes on, and its own outcome is ignored then.
 */
export async function withinTime<Value>(
  promise: Promise<Value>,
  msMax: number,
  toError: () => Error,
  signal?: AbortSignal,
): Promise<Value> {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const end = () => reject(toError())
  const timer = setTimeout(end, msMax)
  signal?.addEventListener("abort", end)
  if (signal?.aborted) end()
  promise.catch(() => {})
  try {
    return await Promise.race([promise, ended])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", end)
  }
}
