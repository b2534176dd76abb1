/** How long a condition may take to come true unless the caller says otherwise. */
const defaultMsMax = 60_000
/** Between looks at memory, and between looks that ask a server or a database. */
const pauseMsMax = { sync: 2, async: 20 }

export interface WaitOptions {
  /** What is awaited, for the error; the source of the condition by default. */
  readonly what?: string
  readonly msMax?: number
  /** The state that the error shows; by default what the condition returned last. */
  readonly seen?: () => unknown
}

type Truthy<T> = Exclude<T, false | 0 | 0n | "" | null | undefined>

/**
 * Waits until the condition returns something truthy, and returns that. Fails at the deadline, and
 * at once when the condition throws.
 */
export async function waitUntil<T>(
  condition: () => T | Promise<T>,
  { what, msMax = defaultMsMax, seen }: WaitOptions = {},
): Promise<Truthy<T>> {
  const deadlineMs = performance.now() + msMax
  // The first looks follow each other closely, since most conditions come true at once.
  for (let pauseMs = 0; ; pauseMs = 2 * pauseMs + 1) {
    const looking = condition()
    const found = await looking
    if (found) return found as Truthy<T>
    if (performance.now() > deadlineMs) {
      const last = Bun.inspect(seen ? await seen() : found)
      throw new Error(`Waited ${msMax} ms for: ${what ?? condition}\nLast seen: ${last}`)
    }
    const pauseMax = looking instanceof Promise ? pauseMsMax.async : pauseMsMax.sync
    await Bun.sleep(Math.min(pauseMs, pauseMax))
  }
}

/** Waits until what `read` returns has not changed for so long, and returns it. */
export async function waitUntilStable<T>(
  read: () => T | Promise<T>,
  quietMs: number,
  options?: WaitOptions,
): Promise<T> {
  let last = await read()
  let changedMs = performance.now()
  await waitUntil(async () => {
    const now = await read()
    if (now !== last) changedMs = performance.now()
    last = now
    return performance.now() - changedMs >= quietMs
  }, options)
  return last
}
