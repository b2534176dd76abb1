import type { Backoff } from "@hamlet/kit"

/** Delays before work is attempted again: a run, or an attempt that threw an error of the server. */
export const workBackoff: Backoff = { firstMs: 5_000, factor: 2, delayMsMax: 3_600_000 }
