import { signal } from "@preact/signals"
import { pause } from "./pause.ts"

const limits = { probeMs: 1_500, probeMsMax: 5_000 }

/** Whether the server does not respond; a banner says so on every page. */
export const isServerLost = signal(false)

/** Counts how often the server came back: what could not be fetched is fetched again then. */
export const comebacks = signal(0)

let isProbing = false

/** Called when a request got no response: finds out whether the server is away, and when it is back. */
export async function noteNoResponse(): Promise<void> {
  if (isProbing) return
  isProbing = true
  while (!(await isReachable())) {
    isServerLost.value = true
    await pause(limits.probeMs)
  }
  isProbing = false
  if (!isServerLost.peek()) return
  isServerLost.value = false
  comebacks.value += 1
}

async function isReachable(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(limits.probeMsMax)
    return (await fetch("/healthz", { cache: "no-store", credentials: "omit", signal })).ok
  } catch {
    return false
  }
}
