import { signal } from "@preact/signals"

/** What the address names after `#`: an operation, or nothing for the overview. */
export const currentId = signal(readId())

/** Counts the moves from one place to another, so that a move can be told from the first load. */
export const moveCount = signal(0)

/** Follows the address from now on. */
export function followLocation(): void {
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
