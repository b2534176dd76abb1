import { signal } from "@preact/signals"
import type { IconName } from "../../ui/icon.tsx"

/** Something that can be done by its name. */
export interface PaletteCommand {
  readonly label: string
  readonly icon: IconName
  /** The keys that do the same, in words. */
  readonly keys?: string
  run(): void
}

/** Whether the palette is open. */
export const isPaletteOpen = signal(false)

/** What the page that is shown offers besides what there is everywhere. */
export const pageCommands = signal<readonly PaletteCommand[]>([])

/** Opens the palette. */
export function openPalette(): void {
  isPaletteOpen.value = true
}
