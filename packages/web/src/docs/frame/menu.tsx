import { useLayoutEffect, useRef } from "preact/hooks"
import { Icon } from "../../ui/icon.tsx"
import type { Api } from "../operations/api.ts"
import { isMenuOpen } from "./filter.ts"
import { Sidebar } from "./sidebar.tsx"

/** The side bar as a dialog, for narrow screens. */
export function Menu({ api }: { api: Api | undefined }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isOpen = isMenuOpen.value
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isOpen])
  const close = () => {
    isMenuOpen.value = false
  }
  const closeOnPick = (event: MouseEvent) => {
    const isBackdrop = event.target === dialog.current
    if (isBackdrop || (event.target instanceof Element && event.target.closest("a"))) close()
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click too, and Escape closes a dialog by itself
    <dialog ref={dialog} class="menu" aria-label="Operations" onClose={close} onClick={closeOnPick}>
      {isOpen ? (
        <>
          <button type="button" class="icon-button menu-close" aria-label="Close" onClick={close}>
            <Icon name="close" />
          </button>
          <Sidebar api={api} />
        </>
      ) : null}
    </dialog>
  )
}
