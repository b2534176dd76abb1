import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { explain } from "../data/explain.ts"

/**
 * What is filled in and sent. While it is under way it cannot be sent again; when it is refused,
 * the reason stands above the button.
 */
export function Form(props: {
  readonly onSubmit: () => Promise<void>
  /** What the button says. */
  readonly label: string
  readonly busyLabel?: string
  /** Whether there is something to send. */
  readonly isReady?: boolean
  readonly kind?: "form" | "sign-in-form"
  readonly foot?: "form-foot" | "dialog-foot"
  readonly children: ComponentChildren
}) {
  const {
    onSubmit,
    label,
    busyLabel = label,
    isReady = true,
    kind = "form",
    foot = "form-foot",
    children,
  } = props
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
      <div class={foot}>
        <button type="submit" class="button" disabled={!isReady || isBusy.value}>
          {isBusy.value ? busyLabel : label}
        </button>
      </div>
    </form>
  )
}
