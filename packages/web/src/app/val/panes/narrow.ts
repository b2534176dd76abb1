import { type Signal, signal } from "@preact/signals"
import { followMedia } from "../../../ui/media.ts"

/** What a narrow window shows: one part at a time. */
export type NarrowView = "files" | "code" | "preview" | "runs"

/** Whether the window is too narrow for panes beside each other, as in the style sheets. */
export const isNarrow = followMedia("(width <= 899px)")

/** The part that a narrow window shows. */
export const narrowView: Signal<NarrowView> = signal("code")
