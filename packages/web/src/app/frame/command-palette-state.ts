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

/** What the palette finds, if it is open. */
export const openedPalette = signal<"everything" | "files" | undefined>(undefined)

/** The commands of the current page, besides the global ones. */
export const pageCommands = signal<readonly PaletteCommand[]>([])

/** The files of the current page, which the palette opens. */
export const pageFiles = signal<readonly PaletteCommand[]>([])

/** Opens the palette. */
export function openPalette(): void {
  openedPalette.value = "everything"
}

/** Opens the palette for the files of the page alone. */
export function openFilePalette(): void {
  openedPalette.value = "files"
}
