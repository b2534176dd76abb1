/**
 * The addresses of a name. Fails with CannotResolve, or anything else, when there are none. The
 * owner is whose share of the lookups it takes.
 */
export type ResolveHost = (name: string, ownerId?: string) => Promise<readonly string[]>

/** Why a name has no addresses for us, as words that follow the name; nothing in it is secret. */
export class CannotResolve extends Error {
  override readonly name = "CannotResolve"
}

/** What resolving takes. */
export interface ResolveLimits {
  readonly lookupMsMax: number
  readonly lookupsMax: number
  /**
   * Of the vals of one user, so that one who asks for names that nobody answers for leaves room for
   * the others.
   */
  readonly lookupsPerOwnerMax: number
  /** A name with more is refused: all of them have to be looked at. */
  readonly addressesMax: number
  /** How long, and how many, answers are used again. */
  readonly keptMs: number
  readonly keptMax: number
}

const resolveLimits: ResolveLimits = {
  lookupMsMax: 5_000,
  lookupsMax: 1_024,
  lookupsPerOwnerMax: 128,
  addressesMax: 256,
  keptMs: 5_000,
  keptMax: 1_000,
}

/** What it is made of; a test puts its own there. */
export interface ResolveParts {
  readonly lookup?: (name: string) => Promise<readonly string[]>
  readonly nowMs?: () => number
  readonly limits?: Partial<ResolveLimits>
}

/**
 * Resolves names as the machine does, each once at a time, and remembers for a moment what was
 * found.
 */
export function createResolveHost({
  lookup = lookUp,
  nowMs = () => performance.now(),
  limits: given,
}: ResolveParts = {}): ResolveHost {
  const limits = { ...resolveLimits, ...given }
  const kept = new Map<
    string,
    { readonly addresses: readonly string[]; readonly untilMs: number }
  >()
  const pending = new Map<string, Promise<readonly string[]>>()
  const perOwner = new Map<string, number>()

  const keep = (name: string, addresses: readonly string[]) => {
    kept.delete(name)
    // The first is the oldest: all are kept for the same time.
    for (const oldest of kept.keys()) {
      if (kept.size < limits.keptMax) break
      kept.delete(oldest)
    }
    kept.set(name, { addresses, untilMs: nowMs() + limits.keptMs })
  }

  const start = async (name: string, ownerId: string | undefined) => {
    const leave = enter(perOwner, ownerId, limits.lookupsPerOwnerMax)
    try {
      const addresses = [...new Set(await withinTime(lookup(name), limits.lookupMsMax))]
      if (addresses.length === 0) throw new CannotResolve("cannot be found")
      if (addresses.length > limits.addressesMax) throw new CannotResolve("has too many addresses")
      keep(name, addresses)
      return addresses
    } finally {
      leave()
    }
  }

  return async (name, ownerId) => {
    const known = kept.get(name)
    if (known && nowMs() < known.untilMs) return known.addresses
    const going = pending.get(name)
    if (going !== undefined) return going
    if (pending.size >= limits.lookupsMax) throw tooMany()
    const lookingUp = start(name, ownerId)
    pending.set(name, lookingUp)
    try {
      return await lookingUp
    } finally {
      pending.delete(name)
    }
  }
}

/**
 * Not `lookup` of node:dns, which takes a thread for each name: a few that nobody answers for would
 * stop everything that waits for a file. Both of these read /etc/hosts, and only that of Linux
 * misses a change of the name servers until the next start.
 */
async function lookUp(name: string): Promise<readonly string[]> {
  const found = await Bun.dns.lookup(name, {
    backend: process.platform === "linux" ? "c-ares" : "system",
    socketType: "tcp",
  })
  return found.map(({ address }) => address)
}

/** Counts a lookup of the owner's; gives what ends it. */
function enter(
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
