import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { explain } from "../../data/explain.ts"

/** How a form is shown and sent. */
export interface FormProps {
  readonly onSubmit: () => Promise<void>
  /** The label of the button. */
  readonly label: string
  readonly busyLabel?: string
  /** Whether the form can be sent. */
  readonly isReady?: boolean
  /** Whether it deletes something. */
  readonly isDanger?: boolean
  readonly kind?: "form" | "sign-in-form"
  readonly foot?: "form-foot" | "dialog-foot"
  readonly children: ComponentChildren
}

/** A form. It cannot be sent twice at once; a failure is shown above the button. */
export function Form(props: FormProps) {
  const { onSubmit, label, busyLabel = label, isReady = true, isDanger = false } = props
  const { kind = "form", foot = "form-foot", children } = props
  const isBusy = useSignal(false)
  const failure = useSignal<string | undefined>(undefined)
  const submit = async (event: Event) => {
    event.preventDefault()
    isBusy.value = true
    failure.value = undefined
    try {
      await onSubmit()
    } catch (error) {
      failure.value = explain(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <form class={kind} onSubmit={submit}>
      {children}
      <p class="field-error" role="alert">
        {failure.value}
      </p>
      <div class={`row wrap ${foot}`}>
        <button
          type="submit"
          class={isDanger ? "button button-danger" : "button"}
          disabled={!isReady || isBusy.value}
        >
          {isBusy.value ? busyLabel : label}
        </button>
      </div>
    </form>
  )
}
