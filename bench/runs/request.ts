const limits = { waitMs: 120_000, pollMs: 20, attemptsMax: 5, answerMs: 60_000 }

/**
 * Sends a request and checks that status and body of the response are as expected.
 */
export async function requestOnce(
  url: string,
  { host, expected = "hello world" }: { host?: string; expected?: string } = {},
): Promise<void> {
  // A server that stops responding must not stop the benchmark.
  const response = await fetch(url, {
    headers: host === undefined ? {} : { host },
    signal: AbortSignal.timeout(limits.answerMs),
  })
  const text = await response.text()
  if (!response.ok || text !== expected)
    throw new Error(
      `Cannot measure ${host ?? url}: it responded ${response.status} ${text.slice(0, 500)}`,
    )
}

/** The duration of `work` in milliseconds. */
export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** Waits for a condition, with a deadline. */
export async function waitUntil(what: string, isMet: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + limits.waitMs
  while (!(await isMet())) {
    if (performance.now() > end)
      throw new Error(`Cannot continue: waited ${limits.waitMs / 1_000} s for ${what}`)
    await Bun.sleep(limits.pollMs)
  }
}

let paths = 0

/** The first response of a peer on a new path, which is a val that has never run. */
export async function requestNewPath(
  url: string,
): Promise<{ readonly path: string; readonly ms: number }> {
  for (let attempt = 1; ; attempt++) {
    const path = `/new${paths++}`
    try {
      return { path, ms: await timeOf(() => requestOnce(url + path)) }
    } catch (error) {
      // On a busy machine deno-http-worker may connect before its process listens, and fail. That
      // does not count as the first response.
      if (attempt === limits.attemptsMax) throw error
    }
  }
}
