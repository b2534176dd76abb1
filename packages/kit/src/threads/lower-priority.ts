import { getPriority, setPriority } from "node:os"

const niceness = 5

/**
 * Lets the main thread go before the calling one. A server that was started with a lower priority
 * keeps it: only root may raise it, and should not.
 */
export function lowerPriority(): void {
  // On Linux 0 is the thread that asks, elsewhere it would be the whole program.
  if (process.platform === "linux") setPriority(0, Math.max(niceness, getPriority(0)))
}
