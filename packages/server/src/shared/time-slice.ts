const limits = {
  /** How long all work together may block the event loop in one turn. */
  sliceMsMax: 8,
}

/** Waits for a turn of the event loop if the slice is used up, and returns undefined otherwise. */
export type TimeSlice = () => Promise<void> | undefined

/** When the first work of this turn of the event loop began. */
let turnStartedMs: number | undefined

/** Work that waits for a turn, in order. */
const waiting: (() => void)[] = []

/**
 * For long work on this thread. Await the returned function at each point where the work may pause:
 * it waits for a turn of the event loop if the slice is used up, and returns undefined otherwise.
 * All work shares the slice of a turn: forty requests with a slice each would block for forty slices.
 * After `signal` has aborted, it rejects with the reason instead of waiting.
 */
export function createTimeSlice({
  sliceMsMax = limits.sliceMsMax,
  signal,
}: {
  readonly sliceMsMax?: number
  readonly signal?: AbortSignal | undefined
} = {}): TimeSlice {
  return () => {
    const nowMs = performance.now()
    if (turnStartedMs === undefined) {
      turnStartedMs = nowMs
      setImmediate(beginTurn)
    }
    return nowMs - turnStartedMs < sliceMsMax ? undefined : waitForTurn(signal)
  }
}

/** Maps items one after the other, in slices. */
export async function mapInSlices<Item, Result>(
  items: Iterable<Item>,
  map: (item: Item, index: number) => Result,
  signal?: AbortSignal,
): Promise<Result[]> {
  const pace = createTimeSlice({ signal })
  const results: Result[] = []
  for (const item of items) {
    results.push(map(item, results.length))
    const pause = pace()
    if (pause !== undefined) await pause
  }
  return results
}

async function waitForTurn(signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve) => {
    waiting.push(resolve)
  })
  signal?.throwIfAborted()
}

/** One of those that wait continues in each turn, so that all of them together take one slice. */
function beginTurn(): void {
  const next = waiting.shift()
  turnStartedMs = next && performance.now()
  if (!next) return
  setImmediate(beginTurn)
  next()
}
