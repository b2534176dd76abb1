/**
 * What differs between two texts, with what is the same folded away. Import it with `import()`
 * only; `lazy.tsx` does.
 */
import { useLayoutEffect, useRef } from "preact/hooks"
import { createDiff } from "./code-mirror/create-diff.ts"
import type { DiffViewProps } from "./diff-view-props.ts"

export function DiffView({
  before,
  after,
  layout,
  path,
  label,
  isCollapsed = true,
}: DiffViewProps) {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!place.current) return
    const diff = createDiff(place.current, { before, after, layout, path, label, isCollapsed })
    return () => diff.stop()
  }, [before, after, layout, path, label, isCollapsed])
  return <div class="diff-view" ref={place} />
}
