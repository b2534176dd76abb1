/** The colour schemes. */
export type Theme = "system" | "light" | "dark"

/** All of them, in the order of the switch. */
export const themes: readonly Theme[] = ["system", "light", "dark"]

const storageKey = "hamlet.theme"

/** The stored scheme. */
export function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(storageKey)
    return themes.find((theme) => theme === stored) ?? "system"
  } catch {
    return "system"
  }
}

/** Stores the scheme. */
export function writeTheme(theme: Theme): void {
  try {
    localStorage.setItem(storageKey, theme)
  } catch {
    // Without storage the choice lasts until the page is left.
  }
}

/** Applies the scheme to the page; the style sheet does the rest. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
}
