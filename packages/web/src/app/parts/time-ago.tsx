import { signal } from "@preact/signals"
import { toAgo, toMoment } from "./time.ts"

// One clock for all of them.
const now = signal(Date.now())
setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 15_000)

/** How long ago something was, kept true; the exact moment on hovering. */
export function TimeAgo({ at }: { at: string }) {
  return (
    <time dateTime={at} title={toMoment(at)}>
      {toAgo(at, Math.max(now.value, Date.now()))}
    </time>
  )
}
