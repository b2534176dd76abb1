/** How long a condition may take to come true unless the caller says otherwise. */
const defaultMsMax = 20_000
/** The first looks follow each other closely, since most conditions come true at once. */
const pauseMsMax = 20

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
  for (let pauseMs = 0; ; pauseMs = Math.min(2 * pauseMs + 1, pauseMsMax)) {
    const found = await condition()
    if (found) return found as Truthy<T>
    if (performance.now() > deadlineMs) {
      const last = Bun.inspect(seen ? await seen() : found)
      throw new Error(`Waited ${msMax} ms for: ${what ?? condition}\nLast seen: ${last}`)
    }
    await Bun.sleep(pauseMs)
  }
}
