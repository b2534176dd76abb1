import { signal } from "@preact/signals"
import type { IconName } from "../../ui/icon.tsx"

/** A command of the palette. */
export interface PaletteCommand {
  readonly label: string
  readonly icon: IconName
  /** The keyboard shortcut. */
  readonly keys?: string
  run(): void
}

/** Whether the palette is open. */
export const isPaletteOpen = signal(false)

/** The commands of the current page, besides the global ones. */
export const pageCommands = signal<readonly PaletteCommand[]>([])

/** Opens the palette. */
export function openPalette(): void {
  isPaletteOpen.value = true
}
