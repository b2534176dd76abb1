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

/** The value of a promise, or that of `onLate` when it takes longer; the promise goes on then. */
export async function orLate<Value, Late>(
  promise: Promise<Value>,
  msMax: number,
  onLate: () => Late,
): Promise<Value | Late> {
  const late = new Error()
  return withinTime(promise, msMax, () => late).catch((error: unknown) => {
    if (error !== late) throw error
    return onLate()
  })
}
