import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { Icon } from "./icon.tsx"

const doneMs = 1_600

/** Copies a text and confirms it briefly. A long text is created on click. */
export function CopyButton({ text, label }: { text: string | (() => string); label: string }) {
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
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={copy}>
      <Icon name={current === "done" ? "check" : current === "failed" ? "warning" : "copy"} />
      <span class="visually-hidden" role="status">
        {current === "done"
          ? "Copied"
          : current === "failed"
            ? "The browser does not allow copying; select the text instead"
            : ""}
      </span>
    </button>
  )
}
