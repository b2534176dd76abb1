import type { RefObject } from "preact"
import { useLayoutEffect } from "preact/hooks"

/**
 * Opens a dialog over the page for as long as it is there. It is closed before it is taken out of
 * the page, which an ordinary effect would be too late for: only a dialog that is closed in its
 * place gives the focus back to where it was.
 */
export function useModal(element: RefObject<HTMLDialogElement | null>): void {
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
}
