/**
 * Resolves a name to its addresses. Rejects, usually with CannotResolve, when there are none. The
 * lookup counts against the limit of the owner.
 */
export type ResolveHost = (name: string, ownerId?: string) => Promise<readonly string[]>

/** Why a name cannot be resolved, as words that follow the name. Contains nothing secret. */
export class CannotResolve extends Error {
  override readonly name = "CannotResolve"
}

/** Limits of name resolution. */
export interface ResolveLimits {
  readonly lookupMsMax: number
  readonly lookupsMax: number
  /** Lookups of one user's vals: names that time out must not use up all lookups. */
  readonly lookupsPerOwnerMax: number
  /** A name with more addresses is refused, because all of them have to be checked. */
  readonly addressesMax: number
  /** How long results are cached, and how many. */
  readonly cachedMs: number
  readonly cachedMax: number
}

const resolveLimits: ResolveLimits = {
  lookupMsMax: 5_000,
  lookupsMax: 1_024,
  lookupsPerOwnerMax: 128,
  addressesMax: 256,
  cachedMs: 5_000,
  cachedMax: 1_000,
}

/** The resolver and the clock; tests replace them. */
export interface ResolveParts {
  readonly lookup?: (name: string) => Promise<readonly string[]>
  readonly nowMs?: () => number
  readonly limits?: Partial<ResolveLimits>
}

/**
 * Resolves names as the operating system does. Concurrent lookups of a name are one, and results
 * are cached for a few seconds.
 */
export function createResolveHost({
  lookup = lookUp,
  nowMs = () => performance.now(),
  limits: given,
}: ResolveParts = {}): ResolveHost {
  const limits = { ...resolveLimits, ...given }
  const cache = new Map<
    string,
    { readonly addresses: readonly string[]; readonly untilMs: number }
  >()
  const pending = new Map<string, Promise<readonly string[]>>()
  const perOwner = new Map<string, number>()

  const store = (name: string, addresses: readonly string[]) => {
    cache.delete(name)
    // The first entry is the oldest: all are cached for the same time.
    for (const oldest of cache.keys()) {
      if (cache.size < limits.cachedMax) break
      cache.delete(oldest)
    }
    cache.set(name, { addresses, untilMs: nowMs() + limits.cachedMs })
  }

  const start = async (name: string, ownerId: string | undefined) => {
    const endCount = countLookup(perOwner, ownerId, limits.lookupsPerOwnerMax)
    try {
      const addresses = [...new Set(await withinTime(lookup(name), limits.lookupMsMax))]
      if (addresses.length === 0) throw new CannotResolve("cannot be found")
      if (addresses.length > limits.addressesMax) throw new CannotResolve("has too many addresses")
      store(name, addresses)
      return addresses
    } finally {
      endCount()
    }
  }

  return async (name, ownerId) => {
    const cached = cache.get(name)
    if (cached && nowMs() < cached.untilMs) return cached.addresses
    const running = pending.get(name)
    if (running !== undefined) return running
    if (pending.size >= limits.lookupsMax) throw tooMany()
    const started = start(name, ownerId)
    pending.set(name, started)
    try {
      return await started
    } finally {
      pending.delete(name)
    }
  }
}

/**
 * Not `lookup` of node:dns, which takes a thread per name: a few names that time out would block
 * all file access. Both backends read /etc/hosts. The one on Linux reads the list of name servers
 * only once, when the server starts.
 */
async function lookUp(name: string): Promise<readonly string[]> {
  const found = await Bun.dns.lookup(name, {
    backend: process.platform === "linux" ? "c-ares" : "system",
    socketType: "tcp",
  })
  return found.map(({ address }) => address)
}

/** Counts a lookup of the owner. Returns a function that ends the count. */
function countLookup(
  perOwner: Map<string, number>,
  ownerId: string | undefined,
  countMax: number,
): () => void {
  if (ownerId === undefined) return () => {}
  const count = perOwner.get(ownerId) ?? 0
  if (count >= countMax) throw tooMany()
  perOwner.set(ownerId, count + 1)
  return () => {
    const left = (perOwner.get(ownerId) ?? 1) - 1
    if (left > 0) perOwner.set(ownerId, left)
    else perOwner.delete(ownerId)
  }
}

function tooMany(): CannotResolve {
  return new CannotResolve("cannot be looked up now: too many other names are being looked up")
}

async function withinTime<Value>(promise: Promise<Value>, msMax: number): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new CannotResolve("was not found in time")), msMax)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
