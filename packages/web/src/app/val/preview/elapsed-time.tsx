import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { toDuration } from "../../../ui/units.ts"

const limits = { hiddenMs: 500, tickMs: 100 }

/** Says that a request or a run takes long, and for how long already; nothing at first. */
export function ElapsedTime(props: { readonly startedAt: number; readonly label: string }) {
  const { startedAt, label } = props
  const elapsedMs = useSignal(0)
  useEffect(() => {
    const tick = () => {
      elapsedMs.value = Date.now() - startedAt
    }
    tick()
    const timer = setInterval(tick, limits.tickMs)
    return () => clearInterval(timer)
  }, [startedAt])
  if (elapsedMs.value < limits.hiddenMs) return null
  return (
    <p class="row small elapsed">
      <span role="status">{label}</span>
      {/* Screen readers would read every tick. */}
      <span class="elapsed-time" aria-hidden="true">
        {toDuration(Math.floor(elapsedMs.value / 100) * 100)}
      </span>
    </p>
  )
}
