import { currentWork } from "../tracing/work.ts"
import { FairQueue } from "./fair-queue.ts"

const limits = {
  /** How long all work together may block the event loop in one turn. */
  sliceMsMax: 8,
}

/** Waits for a turn of the event loop if the slice is used up, and returns undefined otherwise. */
export type TimeSlice = () => Promise<void> | undefined

/** When the first work of this turn of the event loop began. */
let turnStartedMs: number | undefined

/** Work that waits for a turn, by owner. */
const waiting = new FairQueue()
/** Work that every second turn is for. */
const waitingFirst: (() => void)[] = []
/** Whether the last turn was for such work. */
let wasFirst = false

/**
 * For long work on this thread. Await the returned function at each point where the work may pause:
 * it waits for a turn of the event loop if the slice is used up, and returns undefined otherwise.
 * All work shares the slice of a turn: forty requests with a slice each would block for forty slices.
 * Owners take turns; `owner` is whom the work is for, by default the one of the current request. With
 * `isFirst`, every second turn is for this work, because others wait for it.
 * After `signal` has aborted, it rejects with the reason instead of waiting.
 */
export function createTimeSlice({
  sliceMsMax = limits.sliceMsMax,
  signal,
  owner = currentWork()?.owner ?? "",
  isFirst = false,
}: {
  readonly sliceMsMax?: number
  readonly signal?: AbortSignal | undefined
  readonly owner?: string
  readonly isFirst?: boolean
} = {}): TimeSlice {
  const wait = isFirst ? waitForFirstTurn : () => waitForTurn(owner, signal)
  return () => {
    const nowMs = performance.now()
    if (turnStartedMs === undefined) {
      turnStartedMs = nowMs
      setImmediate(beginTurn)
    }
    return nowMs - turnStartedMs < sliceMsMax ? undefined : wait()
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

async function waitForTurn(owner: string, signal: AbortSignal | undefined): Promise<void> {
  // The queue has no limit: what waits is work under way, which has limits of its own.
  await waiting.add(owner, undefined, { signal })?.promise
}

function waitForFirstTurn(): Promise<void> {
  return new Promise((resolve) => {
    waitingFirst.push(resolve)
  })
}

/** One of those that wait continues in each turn, so that all of them together take one slice. */
function beginTurn(): void {
  const next = takeNext()
  turnStartedMs = next && performance.now()
  if (!next) return
  setImmediate(beginTurn)
  next()
}

function takeNext(): (() => void) | undefined {
  const isFirst = waitingFirst.length > 0 && (!wasFirst || waiting.size === 0)
  wasFirst = isFirst
  return isFirst ? waitingFirst.shift() : waiting.next()?.resolve
}
