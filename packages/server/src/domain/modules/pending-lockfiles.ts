import { AppError } from "../app-error.ts"
import type { LockedImport, Lockfile, LockfileStore, Resolution } from "./lockfiles.ts"

/** Waits for packages that are being fetched. */
export type PendingLockfiles = ReturnType<typeof createPendingLockfiles>

interface WaitLimits {
  readonly waitMsMax: number
  /** How often the database is checked for lockfiles that another node has settled. */
  readonly pollMs?: number
  /** Makes a lockfile due that waits for its next attempt. */
  readonly retry?: (branchId: string, version: number) => Promise<void>
}

const pollMsUsual = 250

/** What is waited for. */
interface WaitOptions {
  /** The files whose packages are needed; undefined for all of the version. */
  readonly paths?: ReadonlySet<string>
  readonly msMax?: number
}

/** Runs of versions whose packages are pending wait here. */
export function createPendingLockfiles(
  lockfiles: Pick<LockfileStore, "find">,
  now: () => number,
  limits: WaitLimits,
) {
  const { waitMsMax, pollMs = pollMsUsual, retry } = limits
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
     * Resolves when the packages of these files are there. Rejects with `packages_pending` after a time
     * limit, at most `msMax`, and at once when one of their imports has failed: a retry fails again as
     * a rule, and settles the lockfile if it does not.
     */
    async wait(
      valId: string,
      version: number,
      { paths, msMax = waitMsMax }: WaitOptions = {},
    ): Promise<void> {
      const deadline = now() + Math.min(msMax, waitMsMax)
      for (;;) {
        // Started before the lookup, so that no change is missed.
        const { over, end } = pause(`${valId}@${version}`)
        try {
          const lock = await lockfiles.find(valId, version)
          // If there is none, the version was just deleted, and loading it will fail.
          if (lock?.state !== "pending") return
          const failed = lock.resolution && findFailed(lock.resolution, paths)
          if (failed) throw notFetched(failed, lock, now())
          const found = paths && findState(lock, paths)
          if (found === "fetched") return
          // A release before has stored this result without its packages.
          const isRetried = found === "unknown" && retry !== undefined
          if (isRetried) await retry(valId, version)
          if (now() >= deadline || (!isRetried && (lock.retryAt ?? 0) > deadline))
            throw stillPending(lock.retryAt, now())
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

/** The first import that has failed and that these files need. */
function findFailed(
  { imports, files = [] }: Resolution,
  paths: ReadonlySet<string> | undefined,
): LockedImport | undefined {
  const others = new Set(
    paths && files.filter(([path]) => !paths.has(path)).map(([, text]) => text),
  )
  for (const [path, text] of files) if (paths?.has(path)) others.delete(text)
  return imports.find(
    ({ error, places }) =>
      error !== null && (places.length === 0 || places.some(({ text = "" }) => !others.has(text))),
  )
}

/** Whether the packages of these files are there, none of which has failed. */
function findState(
  { resolution, bundle, retryAt }: Lockfile,
  paths: ReadonlySet<string>,
): "missing" | "unknown" | "fetched" {
  if (!resolution) return "missing"
  const known = new Set(resolution.files?.map(([path]) => path))
  if (resolution.isPartial && [...paths].some((path) => !known.has(path))) return "missing"
  if (resolution.bundle === bundle) return "fetched"
  return retryAt === null ? "missing" : "unknown"
}

function stillPending(retryAt: number | null, at: number): AppError {
  return new AppError(
    "packages_pending",
    "Cannot run the val: the packages of this version are still being fetched",
    retryAt === null ? {} : { retryAfterSeconds: toSeconds(retryAt, at) },
  )
}

/** At least one. */
function toSeconds(retryAt: number, at: number): number {
  return Math.max(1, Math.ceil((retryAt - at) / 1000))
}

function notFetched(
  { specifier, error, places }: LockedImport,
  { resolution, retryAt }: Lockfile,
  at: number,
): AppError {
  const [file] =
    resolution?.files?.find(([, text]) => places.some((one) => one.text === text)) ?? []
  const seconds = Math.ceil(Math.max(0, (retryAt ?? at) - at) / 1000)
  const next = seconds > 0 ? `tries again in ${seconds} s` : "is trying again"
  return new AppError(
    "packages_pending",
    `Cannot run the val: "${specifier}"${file === undefined ? "" : ` in "${file}"`} could not be fetched: ${error}; the server ${next}`,
    { retryAfterSeconds: toSeconds(retryAt ?? at, at) },
  )
}
