const limits = { waitMs: 120_000, pollMs: 20, attemptsMax: 5, answerMs: 60_000 }

/**
 * What the first answer of anything is: its status and body are there, and are what is expected.
 */
export async function askOnce(
  url: string,
  { host, expected = "hello world" }: { host?: string; expected?: string } = {},
): Promise<void> {
  // Whoever stops answering must not stop the benchmark.
  const response = await fetch(url, {
    headers: host === undefined ? {} : { host },
    signal: AbortSignal.timeout(limits.answerMs),
  })
  const text = await response.text()
  if (!response.ok || text !== expected)
    throw new Error(
      `Cannot measure ${host ?? url}: it answered ${response.status} ${text.slice(0, 500)}`,
    )
}

/** How long something takes, in milliseconds. */
export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** Waits for a condition, but not for ever. */
export async function waitUntil(what: string, isMet: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + limits.waitMs
  while (!(await isMet())) {
    if (performance.now() > end)
      throw new Error(`Cannot go on: waited ${limits.waitMs / 1_000} s for ${what}`)
    await Bun.sleep(limits.pollMs)
  }
}

let paths = 0

/** The first answer of a peer on a path that is new to it, which is a val that has never run. */
export async function askNewPath(
  url: string,
): Promise<{ readonly path: string; readonly ms: number }> {
  for (let attempt = 1; ; attempt++) {
    const path = `/new${paths++}`
    try {
      return { path, ms: await timeOf(() => askOnce(url + path)) }
    } catch (error) {
      // On a busy machine deno-http-worker may connect before its process listens, and fails. That
      // is no first answer.
      if (attempt === limits.attemptsMax) throw error
    }
  }
}
