const limits = {
  /** How long work goes on before other work of the thread gets a turn. */
  sliceMsMax: 8,
}

/**
 * For work that may be long and has to stay on this thread. Each call of the function that it
 * returns is a place where the work may pause: it waits for one turn of the event loop when the
 * slice is used up, and gives nothing to wait for otherwise.
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
