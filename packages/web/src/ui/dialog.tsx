import type { ComponentChildren, RefObject } from "preact"
import { useId, useLayoutEffect, useRef } from "preact/hooks"
import { Icon } from "./icon.tsx"

/** A modal dialog. The browser keeps the focus inside and closes it with Escape. */
export function Dialog(props: {
  readonly title: string
  readonly onClose: () => void
  readonly kind?: "wide"
  readonly children: ComponentChildren
}) {
  const element = useModal()
  const titleId = useId()
  return (
    <dialog
      ref={element}
      class={`dialog ${props.kind === "wide" ? "dialog-wide" : ""}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        props.onClose()
      }}
    >
      <div class="row dialog-head">
        <h2 id={titleId}>{props.title}</h2>
        <CloseButton onClose={props.onClose} />
      </div>
      {props.children}
    </dialog>
  )
}

/** The cross in the corner of a dialog. */
function CloseButton({ onClose }: { onClose: () => void }) {
  return (
    <button type="button" class="icon-button dialog-close" aria-label="Close" onClick={onClose}>
      <Icon name="close" />
    </button>
  )
}

/**
 * Opens a dialog over the page for as long as it is mounted. A layout effect closes it before it is
 * removed: only a dialog that is closed while in the page gives the focus back.
 */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const element = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    // The browser would take the button that closes it.
    dialog?.querySelector<HTMLElement>("input, select, textarea")?.focus()
    return () => dialog?.close()
  }, [])
  return element
}
