import { signal } from "@preact/signals"
import { readStored, writeStored } from "../../data/stored.ts"

const key = "hamlet.format-on-save"

/** Whether saving formats the code first, in this browser. */
export const shouldFormatOnSave = signal(readStored(key) === "yes")

export function setFormatOnSave(isOn: boolean): void {
  shouldFormatOnSave.value = isOn
  writeStored(key, isOn ? "yes" : null)
}
