import { type ReadonlySignal, type Signal, signal } from "@preact/signals"

/** What a narrow window shows: one part at a time. */
export type NarrowView = "files" | "code" | "preview" | "runs"

/** As in the style sheets. */
const narrow = matchMedia("(width <= 899px)")
const isNarrowNow = signal(narrow.matches)
narrow.addEventListener("change", () => {
  isNarrowNow.value = narrow.matches
})

/** Whether the window is too narrow for panes beside each other. */
export const isNarrow: ReadonlySignal<boolean> = isNarrowNow

/** The part that a narrow window shows. */
export const narrowView: Signal<NarrowView> = signal("code")
