import { useEffect, useRef } from "preact/hooks"

/**
 * Does something again and again while the page is looked at: nobody is asked on behalf of a tab in
 * the background.
 */
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
        // A failure is shown by whoever loads; the next turn tries again.
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
