import { useLayoutEffect, useRef } from "preact/hooks"

/** Listens to keys with Control, or Command, on the whole page. */
export function useControlKeys(actions: Readonly<Record<string, () => unknown>>): void {
  const latest = useRef(actions)
  latest.current = actions
  // Before the page is seen: a key that is pressed then is not lost.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isOurs = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
      const action = latest.current[event.key.toLowerCase()]
      if (!isOurs || !action || event.defaultPrevented || document.querySelector("dialog[open]"))
        return
      event.preventDefault()
      void action()
    }
    addEventListener("keydown", onKeyDown)
    return () => removeEventListener("keydown", onKeyDown)
  }, [])
}
