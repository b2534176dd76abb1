import { useEffect, useRef } from "preact/hooks"

/** Does something again and again while the page is looked at: nobody is asked on behalf of a tab in the background. */
export function usePoll(everyMs: number, poll: () => unknown, isOn = true): void {
  const latest = useRef(poll)
  latest.current = poll
  useEffect(() => {
    if (!isOn) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let isEnded = false
    const next = () => {
      timer = setTimeout(async () => {
        // A failure is shown by whoever loads; the next turn tries again.
        if (!document.hidden) await Promise.resolve(latest.current()).catch(() => {})
        if (!isEnded) next()
      }, everyMs)
    }
    const seen = () => {
      if (!document.hidden) void latest.current()
    }
    document.addEventListener("visibilitychange", seen)
    next()
    return () => {
      isEnded = true
      clearTimeout(timer)
      document.removeEventListener("visibilitychange", seen)
    }
  }, [everyMs, isOn])
}
