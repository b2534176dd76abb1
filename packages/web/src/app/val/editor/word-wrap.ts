import { signal } from "@preact/signals"
import { readStored, writeStored } from "../../data/stored.ts"

const key = "hamlet.word-wrap"

/** Whether long lines of code are wrapped, in this browser. */
export const isWordWrapped = signal(readStored(key) === "yes")

export function setWordWrap(isOn: boolean): void {
  isWordWrapped.value = isOn
  writeStored(key, isOn ? "yes" : null)
}
