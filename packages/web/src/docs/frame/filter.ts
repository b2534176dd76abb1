import { signal } from "@preact/signals"

/** What stands in the filter box, shared by the side bar and the menu of narrow screens. */
export const filter = signal("")

/** Whether the menu of narrow screens is open. */
export const isMenuOpen = signal(false)
