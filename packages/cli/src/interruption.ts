import { type ExitName, exitCodes } from "./exit-codes.ts"
import { limits } from "./limits.ts"

const signals = {
  SIGINT: "interrupted",
  SIGTERM: "terminated",
  SIGHUP: "hungUp",
} as const satisfies Record<string, ExitName>

/** What happens when a signal ends the program. */
export interface Interruption {
  /**
   * Registers clean-up work that runs before the program ends; the returned function unregisters
   * it.
   */
  onEnd(cleanup: () => unknown): () => void
  /**
   * Whether a signal was received: the program then ends by itself, with the exit code of the
   * signal.
   */
  isEnding(): boolean
  /**
   * Leaves Ctrl-C to another program on the same terminal, until the returned function is called.
   */
  ignoreInterrupts(): () => void
}

/**
 * Listens for signals. The first one starts the clean-up, with a time limit; a second one exits at
 * once.
 */
export function watchInterruption(): Interruption {
  const cleanups = new Set<() => unknown>()
  let isEnding = false
  let ignoring = 0
  const end = async (exit: ExitName) => {
    const { exit: code } = exitCodes[exit]
    if (isEnding) process.exit(code)
    isEnding = true
    const timeout = new Promise((resolve) => setTimeout(resolve, limits.cleanupMsMax))
    // A clean-up that fails must not keep the program running.
    await Promise.race([
      Promise.allSettled([...cleanups].map(async (cleanup) => cleanup())),
      timeout,
    ])
    process.exit(code)
  }
  for (const [signal, exit] of Object.entries(signals)) {
    process.on(signal, () => {
      if (signal === "SIGINT" && ignoring > 0) return
      void end(exit)
    })
  }
  return {
    onEnd(cleanup) {
      cleanups.add(cleanup)
      return () => cleanups.delete(cleanup)
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
