import { type ExitName, exitCodes } from "./exit-codes.ts"
import { limits } from "./limits.ts"

const signals = {
  SIGINT: "interrupted",
  SIGTERM: "terminated",
  SIGHUP: "hungUp",
} as const satisfies Record<string, ExitName>

/** What happens when somebody ends the program early. */
export interface Interruption {
  /**
   * Has something tidied up before the program ends; the function that it gives takes that back.
   */
  onEnd(tidy: () => unknown): () => void
  /** Whether somebody has ended the program: it ends by itself then, and with that exit code. */
  isEnding(): boolean
  /** While it lasts, Ctrl-C is left to another program in front of the same terminal. */
  ignoreInterrupts(): () => void
}

/**
 * Watches for signals. The first one lets what was begun be tidied up, for a little while; a second
 * one does not.
 */
export function watchInterruption(): Interruption {
  const tidying = new Set<() => unknown>()
  let isEnding = false
  let ignoring = 0
  const end = async (exit: ExitName) => {
    const { exit: code } = exitCodes[exit]
    if (isEnding) process.exit(code)
    isEnding = true
    const timeout = new Promise((resolve) => setTimeout(resolve, limits.tidyMsMax))
    // What cannot be tidied up is no reason to go on.
    await Promise.race([Promise.allSettled([...tidying].map(async (tidy) => tidy())), timeout])
    process.exit(code)
  }
  for (const [signal, exit] of Object.entries(signals)) {
    process.on(signal, () => {
      if (signal === "SIGINT" && ignoring > 0) return
      void end(exit)
    })
  }
  return {
    onEnd(tidy) {
      tidying.add(tidy)
      return () => tidying.delete(tidy)
    },
    isEnding: () => isEnding,
    ignoreInterrupts() {
      ignoring += 1
      return () => {
        ignoring -= 1
      }
    },
  }
}
