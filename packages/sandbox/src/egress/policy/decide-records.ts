import type { DnsRecord, RecordType } from "@hamlet/guest/protocol"
import { toOwnJson } from "@hamlet/kit"
import { parseAddress } from "./address-rule.ts"
import type { RoutePolicy } from "./decide.ts"
import { toRefusal } from "./decide-socket.ts"
import { parseHost } from "./host.ts"
import { CannotResolve } from "./limited-lookup.ts"
import { Refusal } from "./refusal.ts"

/** Records that a program asks for. `host` is a name, or an address if the type is PTR. */
export interface RecordsQuery {
  readonly host: string
  readonly type: RecordType
}

const limits = {
  /** The size of all records of a reply, as JSON. */
  recordsBytesMax: 32_768,
  /** Hosts in the records: each of them is looked up. */
  hostsMax: 64,
  /** Names that lead to one another. */
  aliasesMax: 8,
}

/**
 * Finds records, and decides whether a program may see them: name servers may tell this machine more
 * than the public. A name must not belong to the machine's own network, and must not have addresses
 * there; neither must the hosts in its records.
 */
export async function decideRecords(
  policy: RoutePolicy,
  ownerId: string,
  query: RecordsQuery,
): Promise<readonly DnsRecord[] | Refusal> {
  const name = await checkQuery(policy, ownerId, query)
  if (name instanceof Refusal) return name
  const fault = query.type === "CNAME" ? undefined : await checkAliases(policy, ownerId, name)
  if (fault) return fault
  const records = await findRecords(policy, ownerId, query.type, name)
  if (records instanceof Refusal) return records
  if (Buffer.byteLength(toOwnJson(records)) > limits.recordsBytesMax)
    return new Refusal(502, `${name} has too many records`)
  const hosts = new Set(records.flatMap((record) => hostsOf(query.type, record)))
  if (hosts.size > limits.hostsMax) return new Refusal(502, `${name} has too many records`)
  const refusals = await Promise.all([...hosts].map((host) => checkName(policy, ownerId, host)))
  // The reason would reveal what the records contain.
  return refusals.every((refusal) => refusal === undefined)
    ? records
    : new Refusal(403, `its records name a host that programs may not reach`)
}

/**
 * Name servers follow aliases: a public name can be an alias of one in the machine's own network,
 * and then has its records. Why a program may not see them, if so.
 */
async function checkAliases(
  policy: RoutePolicy,
  ownerId: string,
  name: string,
): Promise<Refusal | undefined> {
  let last = name
  for (let count = 0; count < limits.aliasesMax; count += 1) {
    const next = await findAlias(policy, ownerId, last)
    if (typeof next !== "string") return next
    // The reason would reveal whether there is such a host.
    if (await checkAlias(policy, ownerId, next))
      return new Refusal(403, `${name} is an alias of a host that programs may not reach`)
    last = next
  }
  return new Refusal(502, `${name} is an alias of too many names`)
}

/** Below `.arpa`, aliases divide networks: what counts is the address that the name stands for. */
async function checkAlias(
  policy: RoutePolicy,
  ownerId: string,
  name: string,
): Promise<Refusal | undefined> {
  const address = fromReverseName(name)
  if (address !== undefined) return checkAddress(policy, ownerId, address)
  return name.endsWith(".arpa") ? undefined : checkName(policy, ownerId, name)
}

async function checkAddress(
  { hosts }: RoutePolicy,
  ownerId: string,
  address: string,
): Promise<Refusal | undefined> {
  const decision = await hosts.checkHost({ hostname: address, port: 0, ownerId, use: "lookup" })
  return decision.kind === "blocked" ? toRefusal(decision) : undefined
}

/** Undefined if the name is no alias. It is refused if that cannot be found out. */
async function findAlias(
  { resolveRecords }: RoutePolicy,
  ownerId: string,
  name: string,
): Promise<string | Refusal | undefined> {
  try {
    const [alias] = await resolveRecords("CNAME", name, ownerId)
    return typeof alias === "string" && alias !== "" ? alias.toLowerCase() : undefined
  } catch (error) {
    return error instanceof CannotResolve && error.isAbsent ? undefined : cannotResolve(name, error)
  }
}

function cannotResolve(name: string, error: unknown): Refusal {
  const reason = error instanceof CannotResolve ? error.message : "cannot be found"
  return new Refusal(403, `${name} ${reason}`, "ENOTFOUND")
}

async function findRecords(
  { resolveRecords }: RoutePolicy,
  ownerId: string,
  type: RecordType,
  name: string,
): Promise<readonly DnsRecord[] | Refusal> {
  try {
    return await resolveRecords(type, name, ownerId)
  } catch (error) {
    return cannotResolve(name, error)
  }
}

/** The name to ask for, if the program may. */
async function checkQuery(
  policy: RoutePolicy,
  ownerId: string,
  { host, type }: RecordsQuery,
): Promise<string | Refusal> {
  const parsed = parseHost(host)
  if (!parsed) return new Refusal(400, "it is neither a name nor an address")
  if (type === "PTR") {
    const address = parsed.kind === "address" ? parsed.address.text : fromReverseName(parsed.name)
    if (address === undefined) return new Refusal(400, "it does not stand for an address")
    return (await checkAddress(policy, ownerId, address)) ?? toReverseName(address)
  }
  if (parsed.kind === "address") return new Refusal(400, "it is an address, which has PTR records")
  const { name } = parsed
  // `_mongodb._tcp.db.example` is a name of `db.example`, and has no addresses itself.
  const owner = name.replace(/^(?:_[^.]*\.)+/, "")
  for (const checked of new Set([name, owner])) {
    const refusal = await checkName(policy, ownerId, checked)
    if (refusal) return refusal
  }
  return name
}

/**
 * Why a program may not know about this name. A name without addresses may be public all the same, and
 * one of the machine's own network may have a public address.
 */
async function checkName(
  { hosts, privateDomains }: RoutePolicy,
  ownerId: string,
  name: string,
): Promise<Refusal | undefined> {
  const decision = await hosts.checkHost({ hostname: name, port: 0, ownerId, use: "lookup" })
  if (decision.kind === "blocked" && !decision.isAbsent) return toRefusal(decision)
  if (decision.isAllowed || !isPrivateName(name.toLowerCase(), privateDomains)) return undefined
  return new Refusal(403, `${name} is a name of the server's own network`)
}

/**
 * Domains that are never public: reserved ones, and those that networks use although they are not
 * reserved. `.arpa` is for addresses.
 */
const localDomains = [
  "arpa",
  "corp",
  "home",
  "internal",
  "intranet",
  "lan",
  "local",
  "localdomain",
  "localhost",
  "private",
]

function isPrivateName(name: string, privateDomains: readonly string[]): boolean {
  return (
    !name.includes(".") ||
    [...localDomains, ...privateDomains].some(
      (domain) => name === domain || name.endsWith(`.${domain}`),
    )
  )
}

/** The hosts that a record names: a program that reads it would connect to them. */
function hostsOf(type: RecordType, record: DnsRecord): string[] {
  const found = typeof record === "string" ? { "": record } : record
  const { [hostFields[type] ?? "none"]: host } = found as Readonly<Record<string, unknown>>
  // An empty name means that there is no host.
  return typeof host === "string" && host !== "" && host !== "." ? [host] : []
}

/** The names behind a public address are public, and texts name no hosts. */
const hostFields: Readonly<Partial<Record<RecordType, string>>> = {
  CNAME: "",
  MX: "exchange",
  NAPTR: "replacement",
  NS: "",
  SOA: "nsname",
  SRV: "name",
}

const v4Suffix = ".in-addr.arpa"
const v6Suffix = ".ip6.arpa"

/** The address for which a name below `.arpa` stands. */
export function fromReverseName(name: string): string | undefined {
  if (name.endsWith(v4Suffix))
    return parseAddress(name.slice(0, -v4Suffix.length).split(".").reverse().join("."))?.text
  if (!name.endsWith(v6Suffix)) return undefined
  const digits = name.slice(0, -v6Suffix.length).split(".").reverse()
  if (digits.length !== 32 || digits.some((digit) => digit.length !== 1)) return undefined
  return parseAddress(digits.join("").replace(/.{4}(?=.)/g, "$&:"))?.text
}

/** The name that stands for an address. */
export function toReverseName(text: string): string {
  const [address] = parseAddress(text)?.forms ?? []
  const bytes = address?.toByteArray() ?? []
  if (bytes.length === 4) return `${bytes.reverse().join(".")}${v4Suffix}`
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")
  return `${[...digits].reverse().join(".")}${v6Suffix}`
}
