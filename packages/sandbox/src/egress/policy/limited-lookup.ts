import { OpenCounts, RecentMap, withinTime } from "@hamlet/kit"

/** Why a name cannot be resolved, as words that follow the name. Contains nothing secret. */
export class CannotResolve extends Error {
  override readonly name = "CannotResolve"
  /** Whether name servers say that there is nothing, rather than that they could not be asked. */
  readonly isAbsent: boolean

  constructor(message: string, { isAbsent = false } = {}) {
    super(message)
    this.isAbsent = isAbsent
  }
}

/** Limits of lookups. */
export interface LookupLimits {
  readonly lookupMsMax: number
  readonly lookupsMax: number
  /** Lookups of one user's programs: names that time out must not use up all lookups. */
  readonly lookupsPerOwnerMax: number
  /** How long results are cached, and how many. */
  readonly cachedMs: number
  readonly cachedMax: number
}

/** Looks something up by its key. The lookup counts against the limit of the owner. */
export type Lookup<Value> = (key: string, ownerId?: string) => Promise<Value>

/**
 * Limits the time and the number of lookups. Concurrent lookups of a key are one, and results are
 * cached for a few seconds.
 */
export function limitLookups<Value>(
  find: (key: string) => Promise<Value>,
  limits: LookupLimits,
  nowMs: () => number,
): Lookup<Value> {
  const cache = new RecentMap<string, { readonly value: Value; readonly untilMs: number }>(
    limits.cachedMax,
  )
  const pending = new Map<string, Promise<Value>>()
  const perOwner = new OpenCounts()

  const start = async (key: string, ownerId: string | undefined) => {
    const endCount =
      ownerId === undefined ? () => {} : perOwner.tryOpen(ownerId, limits.lookupsPerOwnerMax)
    if (!endCount) throw tooMany()
    try {
      const value = await withinTime(find(key), limits.lookupMsMax, tooSlow)
      const untilMs = nowMs() + limits.cachedMs
      cache.set(key, { value, untilMs })
      return value
    } finally {
      endCount()
    }
  }

  return async (key, ownerId) => {
    const cached = cache.get(key)
    if (cached && nowMs() < cached.untilMs) return cached.value
    const running = pending.get(key)
    if (running !== undefined) return running
    if (pending.size >= limits.lookupsMax) throw tooMany()
    const started = start(key, ownerId)
    pending.set(key, started)
    try {
      return await started
    } finally {
      pending.delete(key)
    }
  }
}

function tooMany(): CannotResolve {
  return new CannotResolve("cannot be looked up now: too many other names are being looked up")
}

function tooSlow(): CannotResolve {
  return new CannotResolve("was not found in time")
}
