import type { ComponentChildren } from "preact"
import { useId, useRef } from "preact/hooks"
import { Icon } from "../../ui/icon.tsx"
import { useModal } from "./use-modal.ts"

/** A window over the page. The browser keeps the focus inside and closes it with Escape. */
export function Dialog(props: {
  readonly title: string
  readonly onClose: () => void
  readonly kind?: "wide"
  readonly children: ComponentChildren
}) {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useModal(element)
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
      <div class="dialog-head">
        <h2 id={titleId}>{props.title}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={props.onClose}>
          <Icon name="close" />
        </button>
      </div>
      {props.children}
    </dialog>
  )
}
