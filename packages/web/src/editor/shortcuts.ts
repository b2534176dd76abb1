/** A key of the editor, for the list of all shortcuts. Control is Command on a Mac. */
interface EditorShortcut {
  readonly keys: string
  readonly label: string
}

/** The keys of the editor that are not those of every editor. */
export const editorShortcuts: readonly EditorShortcut[] = [
  { keys: "Shift Alt F", label: "Format the code" },
  { keys: "Ctrl Space", label: "Complete a name or a module" },
  { keys: "Ctrl Shift Space", label: "Show the parameters of a call" },
  { keys: "F12", label: "Go to the definition (or Ctrl click)" },
  { keys: "F2", label: "Rename" },
  { keys: "Ctrl .", label: "Quick fixes" },
  { keys: "F8", label: "Next problem" },
  { keys: "Ctrl Shift M", label: "List all problems" },
  { keys: "Ctrl F", label: "Find and replace" },
  { keys: "Ctrl /", label: "Comment or uncomment lines" },
  { keys: "Alt ↑", label: "Move lines up; Alt ↓ moves them down" },
  { keys: "Ctrl D", label: "Select the next occurrence" },
  { keys: "Escape Tab", label: "Leave the editor" },
]
