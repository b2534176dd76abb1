import { signal } from "@preact/signals"
import { explain } from "../data/explain.ts"

/** A short note that something was done, or was not. */
export interface Toast {
  readonly id: number
  readonly kind: "done" | "failed"
  readonly text: string
}

/** The notes on the screen, the oldest first. */
export const toasts = signal<readonly Toast[]>([])

const limits = { doneMs: 4_000, countMax: 4 }
let idLast = 0

/** Says that something was done; the note goes by itself. */
export function sayDone(text: string): void {
  const { id } = add("done", text)
  setTimeout(() => dismiss(id), limits.doneMs)
}

/** Says that something was not done, and why; the note stays until it is dismissed. */
export function sayFailed(error: unknown): void {
  add("failed", explain(error))
}

/** Takes a note away. */
export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

function add(kind: Toast["kind"], text: string): Toast {
  idLast += 1
  const toast = { id: idLast, kind, text }
  toasts.value = [...toasts.value.filter((other) => other.text !== text), toast].slice(
    -limits.countMax,
  )
  return toast
}
