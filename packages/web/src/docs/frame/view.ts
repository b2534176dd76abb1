import { signal } from "@preact/signals"

/** The operation that the address names after `#`; empty for the overview. */
export const currentId = signal(readId())

/** Counts hash changes: after one, unlike after the first load, the heading takes the focus. */
export const moveCount = signal(0)

/** The text in the filter box, shared by the side bar and its dialog on narrow screens. */
export const filter = signal("")

/** Whether the side bar's dialog is open. */
export const isSidebarOpen = signal(false)

/** Follows the address from now on. */
export function followHash(): void {
  addEventListener("hashchange", () => {
    currentId.value = readId()
    moveCount.value++
  })
}

function readId(): string {
  const raw = location.hash.slice(1)
  try {
    return decodeURIComponent(raw)
  } catch {
    return raw
  }
}
