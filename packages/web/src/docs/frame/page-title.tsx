import { useLayoutEffect, useRef } from "preact/hooks"
import { moveCount } from "./location.ts"

/**
 * The heading of a page. After a move it takes the focus, so that the keyboard and a screen reader
 * go on from there.
 */
export function PageTitle({ title }: { title: string }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const moves = moveCount.value
  useLayoutEffect(() => {
    document.title = `${title} · Hamlet API`
    if (moves === 0) return
    scrollTo(0, 0)
    heading.current?.focus({ preventScroll: true })
  }, [title, moves])
  return (
    <h1 ref={heading} tabIndex={-1}>
      {title}
    </h1>
  )
}
