import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { Icon } from "./icon.tsx"

const doneMs = 1_600

type Text = string | (() => string)

/** Copies a text and confirms it briefly. A long text is created on click. */
export function CopyButton({ text, label }: { text: Text; label: string }) {
  const { icon, status, copy } = useCopy(text)
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={copy}>
      <Icon name={icon} />
      {status}
    </button>
  )
}

/** A text that is copied when it is clicked. */
export function CopyChip(props: { text: string; label: string; class?: string }) {
  const { text, label } = props
  const { icon, status, copy } = useCopy(text)
  return (
    <button
      type="button"
      class={`boxed tiny copy-chip ${props.class ?? ""}`}
      aria-label={`${label}: ${text}`}
      title={`${label}: ${text}`}
      onClick={copy}
    >
      <code class="ellipsis">{text}</code>
      <Icon name={icon} />
      {status}
    </button>
  )
}

function useCopy(text: Text) {
  const state = useSignal<"ready" | "done" | "failed">("ready")
  const copy = async () => {
    try {
      // Browsers have no clipboard on plain http from another machine.
      await navigator.clipboard.writeText(typeof text === "string" ? text : text())
      state.value = "done"
    } catch {
      state.value = "failed"
    }
  }
  const current = state.value
  useEffect(() => {
    if (current === "ready") return
    const timer = setTimeout(() => {
      state.value = "ready"
    }, doneMs)
    return () => clearTimeout(timer)
  }, [current])
  const icon = { ready: "copy", done: "check", failed: "warning" } as const
  const status = (
    <span class="visually-hidden" role="status">
      {current === "done"
        ? "Copied"
        : current === "failed"
          ? "The browser does not allow copying; select the text instead"
          : ""}
    </span>
  )
  return { icon: icon[current], status, copy }
}
