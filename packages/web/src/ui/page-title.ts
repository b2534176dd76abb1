import { useEffect } from "preact/hooks"

/** Sets the title of the browser tab. */
export function useTitle(title: string | undefined, site = "Hamlet"): void {
  useEffect(() => {
    document.title = title === undefined ? site : `${title} · ${site}`
  }, [title, site])
}
