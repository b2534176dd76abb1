/** Whether the keys are those of a Mac: ⌘ instead of Ctrl. */
export function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.platform)
}
