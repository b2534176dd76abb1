import { Resolver } from "node:dns/promises"
import { CannotResolve, type Lookup, limitLookups } from "./limited-lookup.ts"

/** Resolves a name to its addresses. Rejects, usually with CannotResolve, when there are none. */
export type ResolveHost = Lookup<readonly string[]>

/** Limits of name resolution. */
const resolveLimits = {
  lookupMsMax: 5_000,
  lookupsMax: 1_024,
  lookupsPerOwnerMax: 128,
  /** A name with more addresses is refused, because all of them have to be checked. */
  addressesMax: 256,
  cachedMs: 5_000,
  cachedMax: 1_000,
}

export type ResolveLimits = Readonly<typeof resolveLimits>

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
    if (hasCode(error, malformedCodes)) return lookUpAlone(name)
    throw error
  }
}

/**
 * All lookups share a resolver. When a name server sends a malformed response, every lookup that is
 * under way fails, those of other users too. Each of them is repeated with a resolver of its own.
 */
async function lookUpAlone(name: string): Promise<readonly string[]> {
  const resolver = new Resolver()
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const addresses = found.flatMap((one) => (one.status === "fulfilled" ? one.value : []))
  const failure = found.find((one) => one.status === "rejected" && !isAbsence(one.reason))
  if (addresses.length === 0 && failure?.status === "rejected") throw failure.reason
  return addresses
}

const malformedCodes = new Set(["EBADRESP", "DNS_EBADRESP"])
const absenceCodes = new Set(["ENOTFOUND", "ENODATA", "DNS_ENOTFOUND", "DNS_ENODATA"])

/** Whether an error of a lookup means that name servers know nothing of the kind. */
export function isAbsence(error: unknown): boolean {
  return hasCode(error, absenceCodes)
}

function hasCode(error: unknown, codes: ReadonlySet<string>): boolean {
  return error instanceof Error && "code" in error && codes.has(String(error.code))
}
