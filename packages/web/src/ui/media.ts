import { type ReadonlySignal, signal } from "@preact/signals"

/** Whether a media query matches, kept up to date for as long as the page is open. */
export function followMedia(query: string): ReadonlySignal<boolean> {
  const list = matchMedia(query)
  const isMatching = signal(list.matches)
  list.addEventListener("change", () => {
    isMatching.value = list.matches
  })
  return isMatching
}
