/** The colour schemes one can choose. */
export type Theme = "system" | "light" | "dark"

/** All of them, in the order of the switch. */
export const themes: readonly Theme[] = ["system", "light", "dark"]

const storageKey = "hamlet.theme"

/** The scheme chosen earlier. */
export function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(storageKey)
    return themes.find((theme) => theme === stored) ?? "system"
  } catch {
    return "system"
  }
}

/** Remembers the choice, where the browser lets us. */
export function writeTheme(theme: Theme): void {
  try {
    localStorage.setItem(storageKey, theme)
  } catch {
    // Without storage the choice holds until the page is left.
  }
}

/** Puts the scheme on the page; the style sheet does the rest. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
}
