import { AppError } from "../app-error.ts"
import type { LockedImport, LockfileStore } from "./lockfiles.ts"

/** Waits for packages that are being fetched. */
export type PendingLockfiles = ReturnType<typeof createPendingLockfiles>

interface WaitLimits {
  readonly waitMsMax: number
  /** How often the database is checked for lockfiles that another node has settled. */
  readonly pollMs?: number
}

const pollMsUsual = 250

/** Runs of versions whose packages are pending wait here. */
export function createPendingLockfiles(
  lockfiles: Pick<LockfileStore, "find">,
  now: () => number,
  limits: WaitLimits,
) {
  const { waitMsMax, pollMs = pollMsUsual } = limits
  const waiting = new Map<string, Set<() => void>>()

  /** `over` resolves on the next `note`, after `pollMs`, or when `end` is called. */
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
    /**
     * Resolves when the lockfile is settled. Rejects with `packages_pending` after a time limit, at
     * most `msMax`, and at once when an import has failed: a retry fails again as a rule, and settles
     * the lockfile if it does not.
     */
    async wait(valId: string, version: number, msMax = waitMsMax): Promise<void> {
      const deadline = now() + Math.min(msMax, waitMsMax)
      for (;;) {
        // Started before the lookup, so that no change is missed.
        const { over, end } = pause(`${valId}@${version}`)
        try {
          const lock = await lockfiles.find(valId, version)
          // If there is none, the version was just deleted, and loading it will fail.
          if (lock?.state !== "pending") return
          const failed = lock.resolution?.imports.find(({ error }) => error !== null)
          if (failed) throw notFetched(failed, lock.retryAt, now())
          if (now() >= deadline || (lock.retryAt ?? 0) > deadline) throw stillPending()
          await over
        } finally {
          end()
        }
      }
    },
    /** This node has settled or postponed the lockfile: wakes its waiters. */
    note(valId: string, version: number) {
      for (const end of [...(waiting.get(`${valId}@${version}`) ?? [])]) end()
    },
  }
}

function stillPending(): AppError {
  return new AppError(
    "packages_pending",
    "Cannot run the val: the packages of this version are still being fetched",
  )
}

function notFetched(
  { specifier, error }: LockedImport,
  retryAt: number | null,
  at: number,
): AppError {
  const seconds = Math.ceil(Math.max(0, (retryAt ?? at) - at) / 1000)
  const next = seconds > 0 ? `tries again in ${seconds} s` : "is trying again"
  return new AppError(
    "packages_pending",
    `Cannot run the val: "${specifier}" could not be fetched: ${error}; the server ${next}`,
  )
}
