/** A key, or several in turn, and what they do. */
export interface Shortcut {
  readonly keys: string
  readonly label: string
}

/** The keys that open the menu of owners, where there is one. */
export const ownerKeys = "g o"

/** The shortcuts of every page. A letter works outside of text fields only. */
export const appShortcuts: readonly (Shortcut & { readonly to?: string })[] = [
  { keys: "Ctrl K", label: "Find a val or a command" },
  { keys: "?", label: "Show all shortcuts" },
  { keys: "g h", label: "Home", to: "/" },
  { keys: "g n", label: "New val", to: "/new" },
  { keys: "g r", label: "Runs", to: "/runs" },
  { keys: "g s", label: "Schedules", to: "/schedules" },
  { keys: "g d", label: "Data", to: "/data" },
  { keys: ownerKeys, label: "Choose for whom you act" },
  { keys: "g e", label: "Explore", to: "/search" },
  { keys: "g t", label: "Templates", to: "/templates" },
]

/** The shortcuts of the page of a val. */
export const valShortcuts: readonly Shortcut[] = [
  { keys: "Ctrl S", label: "Save" },
  { keys: "Ctrl Enter", label: "Save and run" },
  { keys: "Ctrl P", label: "Open a file of the val" },
  { keys: "Ctrl B", label: "Show or hide the files" },
]

/** The page that these keys, pressed in turn, lead to. */
export function findTarget(keys: string): string | undefined {
  return appShortcuts.find((shortcut) => shortcut.keys === keys)?.to
}

/** Whether the keys are those of a Mac: ⌘ instead of Ctrl. */
export function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.platform)
}
