import type { Page } from "playwright-core"

const limits = { msMax: 60_000, pauseMs: 20 }

/** Reads until the check no longer throws, and returns the value. Fails with the last error. */
export async function eventually<Value>(
  read: () => Value | Promise<Value>,
  check: (value: Value) => void,
): Promise<Value> {
  for (const end = Date.now() + limits.msMax; ; await Bun.sleep(limits.pauseMs)) {
    try {
      const value = await read()
      check(value)
      return value
    } catch (error) {
      if (Date.now() > end) throw error
    }
  }
}

/** Does something and waits for a toast. The wait starts first, since toasts disappear. */
export async function seeNote(
  page: Page,
  text: string,
  action: () => Promise<unknown>,
): Promise<void> {
  const isShown = (text: string) =>
    [...document.querySelectorAll("[role=status], [role=status] *")].some(
      (note) => note.textContent === text,
    )
  await Promise.all([page.waitForFunction(isShown, text), action()])
}
