import { signal } from "@preact/signals"
import { applyTheme, readTheme, type Theme, themes, writeTheme } from "../../ui/theme-storage.ts"

/** The colour scheme the person chose. */
export const theme = signal<Theme>(readTheme())

/** Goes on to the next scheme: as the system says, light, dark. */
export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "system"
  applyTheme(theme.value)
  writeTheme(theme.value)
}
