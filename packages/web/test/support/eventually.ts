import type { Page } from "playwright-core"

/** The pause grows: looking often at a page that is not ready takes the CPU time it needs. */
const limits = { msMax: 60_000, pauseMs: 20, pauseMsMax: 200 }

/** Reads until the check no longer throws, and returns the value. Fails with the last error. */
export async function eventually<Value>(
  read: () => Value | Promise<Value>,
  check: (value: Value) => void,
): Promise<Value> {
  let pauseMs = limits.pauseMs
  for (const end = Date.now() + limits.msMax; ; await Bun.sleep(pauseMs)) {
    pauseMs = Math.min(limits.pauseMsMax, pauseMs * 1.5)
    try {
      const value = await read()
      check(value)
      return value
    } catch (error) {
      if (Date.now() > end) throw error
    }
  }
}

/**
 * Does something and waits for a toast. Toasts disappear: an observer sees each change of the page,
 * however long the browser or this process stands still.
 */
export async function seeNote(
  page: Page,
  text: string,
  action: () => Promise<unknown>,
): Promise<void> {
  const seen = await page.evaluateHandle((text) => {
    const note = { isSeen: false }
    const look = () => {
      note.isSeen ||= [...document.querySelectorAll("[role=status], [role=status] *")].some(
        ({ textContent }) => textContent === text,
      )
      if (note.isSeen) observer.disconnect()
    }
    const observer = new MutationObserver(look)
    observer.observe(document, { subtree: true, childList: true, characterData: true })
    return note
  }, text)
  await action()
  await page.waitForFunction(({ isSeen }) => isSeen, seen)
}
