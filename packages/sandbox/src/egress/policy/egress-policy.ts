import { RecentMap } from "@hamlet/kit"
import { type Address, findFault, parseAddress } from "./address-rule.ts"
import { type Host, parseHost } from "./host.ts"
import { CannotResolve } from "./limited-lookup.ts"
import { createReadOwnAddresses, type ReadOwnAddresses } from "./own-addresses.ts"
import { createResolveHost, type ResolveHost } from "./resolve-host.ts"
import { allowRules, createRuleList, denyRules, type Match, type RuleList } from "./rule-list.ts"

/** Decides which hosts programs may reach. Every request is checked, including those of redirects. */
export interface EgressPolicy {
  checkHost(target: EgressTarget): Promise<HostDecision>
}

/** The host and port of a request; `hostname` is that of its URL. */
export interface EgressTarget {
  readonly hostname: string
  /** Any number for a lookup, which has no port. */
  readonly port: number
  /** The program's owner. Name lookups are limited per owner. */
  readonly ownerId?: string
  /** Default: a request. */
  readonly use?: EgressUse
}

/**
 * request:  an HTTP request or a WebSocket
 * socket:   a TCP connection of the program, which has a port list of its own
 * lookup:   the addresses of a name, if the program may reach them on some port
 */
export type EgressUse = "request" | "socket" | "lookup"

export type HostDecision =
  | {
      readonly kind: "pass"
      /**
       * Connect to one of these, in this order. Resolving the name again could give an address that
       * was not checked. IPv6 without brackets.
       */
      readonly addresses: readonly string[]
      /** Whether the operator has allowed the host, or all of its addresses, explicitly. */
      readonly isAllowed: boolean
    }
  /**
   * The reason follows `Cannot fetch "URL": `. It reveals nothing about the network that the program
   * does not know.
   */
  | {
      readonly kind: "blocked"
      readonly reason: string
      /** Whether no address was found, so that there was nothing to refuse. */
      readonly isNotFound?: boolean
      /** Whether that is certain: name servers have said that there is none. */
      readonly isAbsent?: boolean
      /** Whether the operator has allowed the name, although it has no address. */
      readonly isAllowed?: boolean
    }

/** The settings of the operator. */
export interface EgressPolicyOptions {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly ports: readonly PortRange[]
  /** The ports that sockets may reach. */
  readonly socketPorts?: readonly PortRange[]
  readonly resolve?: ResolveHost
  /**
   * The addresses of this machine. They are refused even if they are public: services on them may
   * trust local clients.
   */
  readonly readOwnAddresses?: ReadOwnAddresses
}

/** A range of ports, both ends included. */
interface PortRange {
  readonly first: number
  readonly last: number
}

const limits = {
  /** Addresses of one name that are returned. */
  addressesMax: 16,
  /** Decisions in the cache. */
  cachedMax: 2_000,
  /** Longer host names are not valid and would only fill the memory. */
  cachedCharsMax: 255,
}

interface Rules {
  readonly allow: RuleList
  readonly deny: RuleList
  isOpen(port: number): boolean
  /** Why a port is refused that is not open. */
  readonly closedBecause: string
  readonly resolve: ResolveHost
  readonly readOwnAddresses: ReadOwnAddresses
}

/** Throws an AppError that names the setting when an entry is invalid. */
export function createEgressPolicy({
  allow,
  deny,
  ports,
  socketPorts = [],
  resolve,
  readOwnAddresses,
}: EgressPolicyOptions): EgressPolicy {
  const request: Rules = {
    allow: createRuleList(allowRules, allow),
    deny: createRuleList(denyRules, deny),
    isOpen: (port) => isIn(ports, port),
    closedBecause: "is not among those that programs may reach",
    resolve: resolve ?? createResolveHost(),
    readOwnAddresses: readOwnAddresses ?? createReadOwnAddresses(),
  }
  const socket: Rules = {
    ...request,
    isOpen: (port) => isIn(socketPorts, port),
    closedBecause:
      "is not among those that programs may reach over sockets; the operator can add it to HAMLET_EGRESS_SOCKET_PORTS",
  }
  const rulesFor = { request, socket, lookup: toLookupRules(request) }
  // Checking an address takes as long as everything else about a small request.
  const cache = new RecentMap<string, CachedDecision>(limits.cachedMax)
  return {
    async checkHost(target) {
      const { hostname, port, use = "request" } = target
      const key = `${hostname} ${port} ${use}`
      const cached = cache.get(key)
      const checked = await checkTarget(rulesFor[use], target, cached)
      if (checked === cached) return checked.decision
      if (key.length <= limits.cachedCharsMax) cache.set(key, checked)
      return checked.decision
    },
  }
}

function isIn(ports: readonly PortRange[], port: number): boolean {
  return ports.some(({ first, last }) => port >= first && port <= last)
}

/**
 * Allows what an entry of the operator allows on some port. Entries that deny a host on one port
 * only do not match: no entry has the port 0.
 */
function toLookupRules(rules: Rules): Rules {
  return {
    ...rules,
    allow: {
      match: (host) => (rules.allow.hasHost(host) ? "host" : "none"),
      hasHost: (host) => rules.allow.hasHost(host),
      hasPort: () => true,
    },
    deny: { ...rules.deny, match: (host) => rules.deny.match(host, 0) },
    isOpen: () => true,
  }
}

/**
 * A decision, and what it depends on besides the settings: the addresses of this machine, and the
 * name and its addresses if one was resolved.
 */
interface CachedDecision {
  readonly decision: HostDecision
  readonly own: ReadonlySet<string>
  readonly host?: NamedHost
  readonly addresses?: readonly string[]
}

type NamedHost = Host & { readonly kind: "name" }

/**
 * A cached decision is valid while this machine has the same addresses and the resolver returns the
 * same array, which it does until it resolves the name again.
 */
async function checkTarget(
  rules: Rules,
  target: EgressTarget,
  cached: CachedDecision | undefined,
): Promise<CachedDecision> {
  const own = rules.readOwnAddresses()
  const valid = cached?.own === own ? cached : undefined
  if (valid && !valid.host) return valid
  const checked = valid?.host ?? checkUnresolved(rules, target, own)
  if (!("name" in checked)) return { decision: checked, own }
  try {
    const addresses = await rules.resolve(checked.name, target.ownerId)
    if (valid?.addresses === addresses) return valid
    if (addresses.length === 0) throw new CannotResolve("cannot be found", { isAbsent: true })
    return {
      decision: checkAddresses(rules, checked, target.port, addresses.map(parseAddress), own),
      own,
      host: checked,
      addresses,
    }
  } catch (error) {
    return { decision: notFound(rules, checked, target.port, error), own, host: checked }
  }
}

/** The decision, or the name whose addresses are needed for it. */
function checkUnresolved(
  rules: Rules,
  { hostname, port }: EgressTarget,
  own: ReadonlySet<string>,
): HostDecision | NamedHost {
  const host = parseHost(hostname)
  if (!host) return blocked("its host is neither a name nor an address")
  if (rules.deny.match(host, port) !== "none") return denied
  // Whether an entry with this port matches the host may depend on the addresses of the name.
  if (!rules.isOpen(port) && !rules.allow.hasPort(port)) return closed(rules, port)
  if (host.kind === "address") return checkAddresses(rules, host, port, [host.address], own)
  return isLocal(host.name) ? checkLocal(rules, host, port, own) : host
}

/**
 * All addresses must be allowed: an attacker may add a forbidden one to allowed ones. An address
 * that could not be parsed, such as one with a zone, is undefined.
 */
function checkAddresses(
  rules: Rules,
  host: Host,
  port: number,
  addresses: readonly (Address | undefined)[],
  own: ReadonlySet<string>,
): HostDecision {
  const named = rules.allow.match(host, port)
  const passed: string[] = []
  let isAllowed = true
  for (const address of addresses) {
    if (!address) return hidden(host)
    const target: Host = { kind: "address", address }
    if (rules.deny.match(target, port) !== "none") return denied
    const match = stronger(named, rules.allow.match(target, port))
    const fault = match === "none" ? findFault(address) : undefined
    if (fault !== undefined)
      return host.kind === "name" ? hidden(host) : blocked(`${address.text} is ${fault}`)
    if (match === "none" && isOwn(address, own)) return ownMachine(host)
    if (match !== "port" && !rules.isOpen(port)) return closed(rules, port)
    isAllowed &&= match !== "none"
    passed.push(address.text)
  }
  return { kind: "pass", addresses: passed.slice(0, limits.addressesMax), isAllowed }
}

/** Whether an address is one of this machine, or one that NAT64 would translate to it. */
function isOwn(address: Address, own: ReadonlySet<string>): boolean {
  return address.forms.some((form) => own.has(form.toString()))
}

/** Names that always mean this machine (RFC 6761), whatever a resolver returns. */
export function isLocal(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost")
}

/**
 * Refused unless the operator has allowed the name or a loopback address. One allowed address is
 * enough: these addresses do not come from a resolver that an attacker controls.
 */
function checkLocal(
  rules: Rules,
  host: Host & { readonly kind: "name" },
  port: number,
  own: ReadonlySet<string>,
): HostDecision {
  const decisions = ["127.0.0.1", "::1"].map((text) =>
    checkAddresses(rules, host, port, [parseAddress(text)], own),
  )
  const addresses = decisions.flatMap((decision) =>
    decision.kind === "pass" ? decision.addresses : [],
  )
  if (addresses.length > 0) return { kind: "pass", addresses, isAllowed: true }
  const refusal = decisions.find((decision) => decision === denied)
  return refusal ?? blocked(`${host.name} is the machine on which the server runs`)
}

function stronger(left: Match, right: Match): Match {
  if (left === "port" || right === "port") return "port"
  return left === "host" || right === "host" ? "host" : "none"
}

const denied = blocked("the operator of this server has denied it")

function closed({ closedBecause }: Rules, port: number): HostDecision {
  return blocked(`port ${port} ${closedBecause}`)
}

function notFound(rules: Rules, host: NamedHost, port: number, error: unknown): HostDecision {
  const known = error instanceof CannotResolve ? error : undefined
  return {
    kind: "blocked",
    reason: `${host.name} ${known?.message ?? "cannot be found"}`,
    isNotFound: true,
    isAbsent: known?.isAbsent ?? false,
    isAllowed: rules.allow.match(host, port) !== "none",
  }
}

/** The address and its kind are not shown: they would reveal the network. */
function hidden(host: Host): HostDecision {
  return blocked(
    `${host.kind === "name" ? host.name : host.address.text} resolves to a private address`,
  )
}

/** The address is public, so this reveals nothing about the network. */
function ownMachine(host: Host): HostDecision {
  const whose = "an address of the machine on which the server runs"
  return blocked(
    host.kind === "name" ? `${host.name} resolves to ${whose}` : `${host.address.text} is ${whose}`,
  )
}

function blocked(reason: string): HostDecision {
  return { kind: "blocked", reason }
}
