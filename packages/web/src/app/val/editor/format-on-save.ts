import { signal } from "@preact/signals"

const key = "hamlet.format-on-save"

/** Whether saving formats the code first, in this browser. */
export const shouldFormatOnSave = signal(read())

export function setFormatOnSave(isOn: boolean): void {
  shouldFormatOnSave.value = isOn
  try {
    if (isOn) localStorage.setItem(key, "yes")
    else localStorage.removeItem(key)
  } catch {
    // The storage is full or blocked: the choice lasts until the page is closed.
  }
}

function read(): boolean {
  try {
    return localStorage.getItem(key) === "yes"
  } catch {
    return false
  }
}
