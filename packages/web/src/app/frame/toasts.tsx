import { Icon } from "../../ui/icon.tsx"
import { dismiss, toasts } from "./toast-list.ts"

/** The messages in the corner; screen readers announce them. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, kind, text }) => (
        <div key={id} class={`toast toast-${kind}`}>
          <Icon name={kind === "done" ? "check" : "warning"} />
          <span>{text}</span>
          <button
            type="button"
            class="icon-button"
            aria-label="Dismiss"
            onClick={() => dismiss(id)}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
