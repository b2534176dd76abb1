import { useEffect } from "preact/hooks"

/** What the tab of the browser is called. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title === undefined ? "Hamlet" : `${title} · Hamlet`
  }, [title])
}
