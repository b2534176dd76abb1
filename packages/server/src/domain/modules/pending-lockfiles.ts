import { AppError } from "../app-error.ts"
import type { Lockfile, LockfileStore } from "./lockfiles.ts"

/** Waits for what is still being fetched. */
export interface PendingLockfiles {
  /**
   * Resolves when the version's lock is no longer pending; throws `packages_pending` when that
   * takes too long.
   */
  wait(valId: string, version: number): Promise<void>
  /** This node has done its work on that lock. */
  note(valId: string, version: number): void
}

interface WaitLimits {
  readonly waitMsMax: number
  /** How often it is looked whether another node has done it. */
  readonly pollMs?: number
}

const pollMsUsual = 250

/** Whoever wants to run a version whose packages are not there yet waits here. */
export function createPendingLockfiles(
  lockfiles: Pick<LockfileStore, "find">,
  now: () => number,
  limits: WaitLimits,
): PendingLockfiles {
  const { waitMsMax, pollMs = pollMsUsual } = limits
  const waiting = new Map<string, Set<() => void>>()

  /**
   * Is over when the lock is said to have changed, or it is time to look; and when nobody waits for
   * it any more.
   */
  function pause(key: string): { readonly over: Promise<void>; readonly end: () => void } {
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const ends = waiting.get(key) ?? new Set()
    waiting.set(key, ends)
    const end = () => {
      clearTimeout(timer)
      ends.delete(end)
      if (ends.size === 0 && waiting.get(key) === ends) waiting.delete(key)
      resolve()
    }
    const timer = setTimeout(end, pollMs)
    ends.add(end)
    return { over, end }
  }

  return {
    async wait(valId, version) {
      const deadline = now() + waitMsMax
      for (;;) {
        // Before it is looked, so that nothing is missed that happens meanwhile.
        const { over, end } = pause(`${valId}@${version}`)
        try {
          const lock = await lockfiles.find(valId, version)
          // None at all: the version was deleted a moment ago, and whoever loads it will notice.
          if (lock?.state !== "pending") return
          if (now() >= deadline || (lock.retryAt ?? 0) > deadline) throw stillPending(lock)
          await over
        } finally {
          end()
        }
      }
    },
    note(valId, version) {
      for (const end of [...(waiting.get(`${valId}@${version}`) ?? [])]) end()
    },
  }
}

function stillPending({ resolution }: Lockfile): AppError {
  const failing = resolution?.imports.find(({ error }) => error !== null)
  const reason = failing ? ` (the last attempt at "${failing.specifier}": ${failing.error})` : ""
  return new AppError(
    "packages_pending",
    `Cannot run the val: the packages of this version are still being fetched${reason}`,
  )
}
