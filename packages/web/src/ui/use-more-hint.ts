import type { RefObject } from "preact"
import { useLayoutEffect } from "preact/hooks"

/** Marks a row that scrolls sideways while a part of it is outside, for the arrows at its ends. */
export function useMoreHint(row: RefObject<HTMLElement | null>): void {
  // After each rendering: another content neither scrolls nor resizes the row.
  useLayoutEffect(() => {
    if (row.current) mark(row.current)
  })
  useLayoutEffect(() => {
    const element = row.current
    if (!element) return
    const update = () => mark(element)
    const observer = new ResizeObserver(update)
    observer.observe(element)
    element.addEventListener("scroll", update, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener("scroll", update)
    }
  }, [])
}

function mark(element: HTMLElement): void {
  const { scrollLeft, scrollWidth, clientWidth } = element
  element.toggleAttribute("data-more-before", scrollLeft > 1)
  element.toggleAttribute("data-more-after", scrollLeft + clientWidth < scrollWidth - 1)
}
