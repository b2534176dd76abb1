import { Resolver } from "node:dns/promises"
import type { DnsRecord, RecordType } from "@hamlet/guest/protocol"
import { tryReadText } from "@hamlet/kit"
import { CannotResolve, type LookupLimits, limitLookups } from "./limited-lookup.ts"
import { isAbsence } from "./resolve-host.ts"

/** Finds the records of a name. Rejects, usually with CannotResolve, when there are none. */
export type ResolveRecords = (
  type: RecordType,
  name: string,
  ownerId: string,
) => Promise<readonly DnsRecord[]>

const limits = {
  lookupMsMax: 5_000,
  lookupsMax: 256,
  lookupsPerOwnerMax: 32,
  cachedMs: 5_000,
  cachedMax: 200,
  /** The hosts in records are looked up, too. */
  recordsMax: 100,
} satisfies LookupLimits & { readonly recordsMax: number }

/** Finds one kind of records, in the form of node:dns. */
export type FindRecords = (type: RecordType, name: string) => Promise<readonly DnsRecord[]>

/** Asks the name servers of this machine. Unlike addresses, records are not in /etc/hosts. */
export function createResolveRecords(find: FindRecords = findRecords): ResolveRecords {
  const limited = limitLookups(
    async (key) => {
      const [type, name] = key.split(" ") as [RecordType, string]
      const records = await find(type, name)
      if (records.length === 0) throw new CannotResolve("has no such records", { isAbsent: true })
      if (records.length > limits.recordsMax) throw new CannotResolve("has too many records")
      return records
    },
    limits,
    () => performance.now(),
  )
  return (type, name, ownerId) => limited(`${type} ${name}`, ownerId)
}

/**
 * Each lookup has a resolver of its own: when a name server sends a malformed response, all lookups
 * of a resolver that are under way fail, those of other users too.
 */
const findRecords: FindRecords = async (type, name) => {
  try {
    return await finders[type](new Resolver(), name)
  } catch (error) {
    if (isAbsence(error)) return []
    throw error
  }
}

type Finder = (resolver: Resolver, name: string) => Promise<readonly DnsRecord[]>

const finders: Readonly<Record<RecordType, Finder>> = {
  CAA: async (resolver, name) => toFields(await resolver.resolveCaa(name)),
  CNAME: (resolver, name) => resolver.resolveCname(name),
  MX: async (resolver, name) => toFields(await resolver.resolveMx(name)),
  NAPTR: async (resolver, name) => toFields(await resolver.resolveNaptr(name)),
  NS: (resolver, name) => resolver.resolveNs(name),
  PTR: (resolver, name) => resolver.resolvePtr(name),
  SOA: async (resolver, name) => toFields([await resolver.resolveSoa(name)]),
  SRV: async (resolver, name) => toFields(await resolver.resolveSrv(name)),
  TXT: async (resolver, name) => joinTexts(await resolver.resolveTxt(name)),
}

function toFields(records: readonly object[]): DnsRecord[] {
  return records.map((record) => ({ ...record }))
}

/** The length of a string in a TXT record, in bytes. A longer text is several strings. */
const stringBytesMax = 255

/**
 * Bun returns each string of a TXT record as a record of its own. A string that is as long as it
 * can be is continued by the next one.
 */
export function joinTexts(found: readonly (readonly string[])[]): string[][] {
  const records: string[][] = []
  for (const strings of found) {
    const last = records.at(-1)
    if (last && Buffer.byteLength(last.at(-1) ?? "") === stringBytesMax) last.push(...strings)
    else records.push([...strings])
  }
  return records
}

/** The domains in which this machine searches for short names: those of its own network. */
export function readPrivateDomains(path = "/etc/resolv.conf"): readonly string[] {
  const lines = tryReadText(path).matchAll(/^[ \t]*(?:search|domain)[ \t]+(.+)$/gm)
  return [...lines]
    .flatMap(([, domains = ""]) => domains.trim().split(/\s+/))
    .map((domain) => domain.toLowerCase().replace(/^\.|\.$/g, ""))
    .filter((domain) => domain !== "")
}
