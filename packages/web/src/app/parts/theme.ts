import { signal } from "@preact/signals"
import { applyTheme, readTheme, type Theme, writeTheme } from "../../ui/theme-storage.ts"

/** The colour scheme the person chose. */
export const theme = signal<Theme>(readTheme())

/** Chooses a colour scheme. */
export function setTheme(chosen: Theme): void {
  theme.value = chosen
  applyTheme(chosen)
  writeTheme(chosen)
}
