import { useEffect, useRef } from "preact/hooks"

/** Polls while the tab is visible. */
export function usePoll(everyMs: number, poll: () => unknown): void {
  const latest = useRef(poll)
  latest.current = poll
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isEnded = false
    const turn = async () => {
      try {
        if (!document.hidden) await latest.current()
      } catch {
        // The loader shows the failure; the next turn tries again.
      }
    }
    const next = () => {
      timer = setTimeout(async () => {
        await turn()
        if (!isEnded) next()
      }, everyMs)
    }
    const seen = () => void turn()
    document.addEventListener("visibilitychange", seen)
    next()
    return () => {
      isEnded = true
      clearTimeout(timer)
      document.removeEventListener("visibilitychange", seen)
    }
  }, [everyMs])
}
