import { signal } from "@preact/signals"
import { applyTheme, readTheme, type Theme, writeTheme } from "./theme-storage.ts"

/** The names of the colour schemes, as users read them. */
export const themeLabels = { system: "System", light: "Light", dark: "Dark" } as const

/** The chosen colour scheme. */
export const theme = signal<Theme>(readTheme())

/** Chooses a colour scheme. */
export function setTheme(chosen: Theme): void {
  theme.value = chosen
  applyTheme(chosen)
  writeTheme(chosen)
}
