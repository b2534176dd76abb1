import { type Signal, signal } from "@preact/signals"

/** The text that this browser has stored; null for none, and where it has no storage. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

/** Stores a text; null removes it. With a full or disabled storage it lasts as long as the page. */
export function writeStored(key: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(key)
    else localStorage.setItem(key, text)
  } catch {
    // The page goes on without it.
  }
}

/** A setting of this browser that is on or off; off at first. */
export function createStoredFlag(key: string): Signal<boolean> {
  const isOn = signal(readStored(key) === "yes")
  isOn.subscribe((value) => writeStored(key, value ? "yes" : null))
  return isOn
}
