import { signal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useLayoutEffect } from "preact/hooks"
import { navigate } from "./location.ts"
import { openOwnerSwitch } from "./owner-switch.tsx"
import { findTarget, ownerKeys } from "./shortcuts.ts"
import { showError } from "./toast-list.ts"

/** How long the second key of two may take. */
const pauseMsMax = 1_500

/** The dialog, once it was asked for: it is a bundle of its own. */
const dialog = signal<ComponentType<{ onClose: () => void }> | undefined>(undefined)

/** Shows the dialog of all shortcuts. */
export function openShortcuts(): void {
  import("./shortcut-dialog.tsx").then((module) => {
    dialog.value = module.ShortcutDialog
  }, showError)
}

/** Listens to the shortcuts that every page has. */
export function ShortcutKeys() {
  // Before the page is seen: a key that is pressed then is not lost.
  useLayoutEffect(() => {
    let first: { readonly key: string; readonly at: number } | undefined
    const onKeyDown = (event: KeyboardEvent) => {
      const hasModifier = event.ctrlKey || event.metaKey || event.altKey
      if (hasModifier || event.defaultPrevented || isTyping(event.target)) return
      if (event.key === "?") {
        event.preventDefault()
        openShortcuts()
        return
      }
      const isSecond = first !== undefined && event.timeStamp - first.at < pauseMsMax
      const keys = isSecond ? `${first?.key} ${event.key}` : ""
      const target = findTarget(keys)
      const isUsed = target !== undefined || keys === ownerKeys
      first = isUsed ? undefined : { key: event.key, at: event.timeStamp }
      if (keys === ownerKeys) openOwnerSwitch()
      if (target === undefined) return
      event.preventDefault()
      navigate(target)
    }
    addEventListener("keydown", onKeyDown)
    return () => removeEventListener("keydown", onKeyDown)
  }, [])
  const Open = dialog.value
  if (!Open) return null
  return (
    <Open
      onClose={() => {
        dialog.value = undefined
      }}
    />
  )
}

/** Whether keys are text there, or the page is behind a dialog. */
function isTyping(target: EventTarget | null): boolean {
  if (document.querySelector("dialog[open]")) return true
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}
