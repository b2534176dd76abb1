/** The difference between two texts. Import it with `import()` only, as `lazy.tsx` does. */
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
  const host = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!host.current) return
    const diff = createDiff(host.current, { before, after, layout, path, label, isCollapsed })
    return () => diff.stop()
  }, [before, after, layout, path, label, isCollapsed])
  return <div class="diff-view" ref={host} />
}
