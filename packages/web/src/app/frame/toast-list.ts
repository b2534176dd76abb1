import { signal } from "@preact/signals"
import { comebacks } from "../data/connection.ts"
import { explain, noResponse } from "../data/explain.ts"

/** A short message that an action succeeded or failed. */
export interface Toast {
  readonly id: number
  readonly kind: "done" | "failed"
  readonly text: string
  readonly action?: ToastAction
}

/** What the user can do about a message. */
export interface ToastAction {
  readonly label: string
  run(): void
}

/** The messages on the screen, the oldest first. */
export const toasts = signal<readonly Toast[]>([])

const limits = { doneMs: 4_000, actionMs: 12_000, countMax: 4 }
let idLast = 0

/** Reports success; the message disappears by itself. */
export function showDone(text: string, action?: ToastAction): void {
  const { id } = add("done", text, action)
  setTimeout(() => dismiss(id), action ? limits.actionMs : limits.doneMs)
}

// When the server is back, the message that it is away is no longer true.
comebacks.subscribe(() => {
  toasts.value = toasts.peek().filter((toast) => toast.text !== noResponse)
})

/** Reports a failure and its reason; the message stays until it is dismissed. */
export function showError(error: unknown): void {
  add("failed", explain(error))
}

/** Reports that what is shown could not be fetched again. Returns the id of the message. */
export function showOutdated(error: unknown, retry: () => void): number {
  const text = `What you see may be out of date. ${explain(error)}`
  return add("failed", text, { label: "Try again", run: retry }).id
}

/** Removes a message. */
export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

function add(kind: Toast["kind"], text: string, action?: ToastAction): Toast {
  idLast += 1
  const toast = { id: idLast, kind, text, ...(action ? { action } : {}) }
  toasts.value = [...toasts.value.filter((other) => other.text !== text), toast].slice(
    -limits.countMax,
  )
  return toast
}
