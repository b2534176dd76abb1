const limits = {
  /** How long work may block the event loop. */
  sliceMsMax: 8,
}

/**
 * For long work on this thread. Await the returned function at each point where the work may pause:
 * it waits for one turn of the event loop if the slice is used up, and returns undefined otherwise.
 */
export function createTimeSlice(sliceMsMax = limits.sliceMsMax): () => Promise<void> | undefined {
  let startedMs = performance.now()
  return () => {
    if (performance.now() - startedMs < sliceMsMax) return undefined
    return new Promise((resolve) =>
      setImmediate(() => {
        startedMs = performance.now()
        resolve()
      }),
    )
  }
}
