import { CannotResolve, type Lookup, type LookupLimits, limitLookups } from "./limited-lookup.ts"

/** Resolves a name to its addresses. Rejects, usually with CannotResolve, when there are none. */
export type ResolveHost = Lookup<readonly string[]>

/** Limits of name resolution. */
export interface ResolveLimits extends LookupLimits {
  /** A name with more addresses is refused, because all of them have to be checked. */
  readonly addressesMax: number
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

/** Resolves names as the operating system does. */
export function createResolveHost({
  lookup = lookUp,
  nowMs = () => performance.now(),
  limits: given,
}: ResolveParts = {}): ResolveHost {
  const limits = { ...resolveLimits, ...given }
  const find = async (name: string) => {
    const addresses = [...new Set(await lookup(name))]
    if (addresses.length === 0) throw new CannotResolve("cannot be found", { isAbsent: true })
    if (addresses.length > limits.addressesMax) throw new CannotResolve("has too many addresses")
    return addresses
  }
  return limitLookups(find, limits, nowMs)
}

/**
 * Not `lookup` of node:dns, which takes a thread per name: a few names that time out would block
 * all file access. Both backends read /etc/hosts. The one on Linux reads the list of name servers
 * only once, when the server starts.
 */
async function lookUp(name: string): Promise<readonly string[]> {
  try {
    const found = await Bun.dns.lookup(name, {
      backend: process.platform === "linux" ? "c-ares" : "system",
      socketType: "tcp",
    })
    return found.map(({ address }) => address)
  } catch (error) {
    if (isAbsence(error)) return []
    throw error
  }
}

const absenceCodes = new Set(["ENOTFOUND", "ENODATA", "DNS_ENOTFOUND", "DNS_ENODATA"])

/** Whether an error of a lookup means that name servers know nothing of the kind. */
export function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && absenceCodes.has(String(error.code))
}
