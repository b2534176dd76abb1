const deadlineMs = 60_000
const pollMs = 10

/** Waits until a condition holds; throws when it does not within a minute. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  description: string,
): Promise<void> {
  const endMs = Date.now() + deadlineMs
  while (!(await condition())) {
    if (Date.now() >= endMs) throw new Error(`Waited ${deadlineMs} ms for ${description}`)
    await Bun.sleep(pollMs)
  }
}
