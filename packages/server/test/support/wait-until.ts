const pollMs = 20
const waitMsMax = 20_000

/** Waits for something to become true. Fails when it does not. */
export async function waitUntil(
  isTrue: () => boolean | Promise<boolean>,
  msMax: number = waitMsMax,
): Promise<void> {
  const deadlineMs = performance.now() + msMax
  while (!(await isTrue())) {
    if (performance.now() > deadlineMs)
      throw new Error(`what was waited for did not happen within ${msMax} ms: ${isTrue}`)
    await Bun.sleep(pollMs)
  }
}

/** Waits for something to be there, and gives it. */
export async function waitFor<T>(
  find: () => T | undefined | Promise<T | undefined>,
  msMax: number = waitMsMax,
): Promise<T> {
  let found: T | undefined
  await waitUntil(async () => {
    found = await find()
    return found !== undefined
  }, msMax)
  return found as T
}

/** Lets so many in at a time. */
export function limitConcurrency(places: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let free = places
  return async (work) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve))
    else free -= 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}
