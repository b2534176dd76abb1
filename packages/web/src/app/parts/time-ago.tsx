import { signal } from "@preact/signals"
import { toAgo, toMoment } from "./time.ts"

// One timer for all instances.
const now = signal(Date.now())
setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 15_000)

/** A relative time that is kept up to date; the exact time on hover. */
export function TimeAgo(props: { readonly at: string; readonly class?: "quiet" }) {
  const { at, ...rest } = props
  return (
    <time {...rest} dateTime={at} title={toMoment(at)}>
      {toAgo(at, Math.max(now.value, Date.now()))}
    </time>
  )
}
