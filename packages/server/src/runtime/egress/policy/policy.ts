import { type Address, findFault, parseAddress } from "./address-rule.ts"
import { type Host, parseHost } from "./host.ts"
import { createReadOwnAddresses, type ReadOwnAddresses } from "./own-addresses.ts"
import { CannotResolve, createResolveHost, type ResolveHost } from "./resolve-host.ts"
import { allowRules, createRuleList, denyRules, type Match, type RuleList } from "./rule-list.ts"

/**
 * Decides what vals may reach. Every request is decided about for itself, those of redirects too.
 */
export interface EgressPolicy {
  checkHost(target: EgressTarget): Promise<HostDecision>
}

/** Where a request is to go; `hostname` as a URL has it. */
export interface EgressTarget {
  readonly hostname: string
  readonly port: number
  /** Whose val it is, so that nobody takes all lookups of names. */
  readonly ownerId?: string
}

export type HostDecision =
  | {
      readonly kind: "pass"
      /**
       * To connect to one of these, in this order, and to nothing else: the name is not to be
       * resolved again. IPv6 without brackets.
       */
      readonly addresses: readonly string[]
      /**
       * Whether the operator has named the host or its addresses, and not just nobody forbids it.
       */
      readonly isAllowed: boolean
    }
  /**
   * The reason follows `Cannot fetch "URL": `. It says nothing about the network but what the val
   * said itself.
   */
  | { readonly kind: "blocked"; readonly reason: string }

/** What an operator has set. */
export interface EgressPolicyOptions {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly ports: readonly { readonly first: number; readonly last: number }[]
  readonly resolve?: ResolveHost
  /**
   * The addresses of this machine, which are refused however public they are: what listens there
   * may trust its neighbours.
   */
  readonly readOwnAddresses?: ReadOwnAddresses
}

const limits = {
  /** Addresses of one name that are worth a try. */
  addressesMax: 16,
  /** Decisions that are remembered. */
  rememberedMax: 2_000,
  /** Longer names are made up to fill our memory. */
  rememberedCharsMax: 255,
}

interface Rules {
  readonly allow: RuleList
  readonly deny: RuleList
  isOpen(port: number): boolean
  readonly resolve: ResolveHost
  readonly readOwnAddresses: ReadOwnAddresses
}

/**
 * The policy for these settings. Throws an AppError that names the setting when an entry is of no
 * use.
 */
export function createEgressPolicy({
  allow,
  deny,
  ports,
  resolve,
  readOwnAddresses,
}: EgressPolicyOptions): EgressPolicy {
  const rules: Rules = {
    allow: createRuleList(allowRules, allow),
    deny: createRuleList(denyRules, deny),
    isOpen: (port) => ports.some(({ first, last }) => port >= first && port <= last),
    resolve: resolve ?? createResolveHost(),
    readOwnAddresses: readOwnAddresses ?? createReadOwnAddresses(),
  }
  // To judge an address takes as long as all else about a small request.
  const remembered = new Map<string, Remembered>()
  return {
    async checkHost(target) {
      const key = `${target.hostname} ${target.port}`
      const known = remembered.get(key)
      const made = await decide(rules, target, known)
      if (made === known) return made.decision
      if (remembered.size >= limits.rememberedMax) remembered.clear()
      if (key.length <= limits.rememberedCharsMax) remembered.set(key, made)
      return made.decision
    },
  }
}

/**
 * A decision, and what it was made of beside the settings: this machine's addresses, and where a
 * name had to be resolved, that name and its addresses.
 */
interface Remembered {
  readonly decision: HostDecision
  readonly own: ReadonlySet<string>
  readonly host?: NamedHost
  readonly addresses?: readonly string[]
}

type NamedHost = Host & { readonly kind: "name" }

/**
 * What was known is good as long as this machine has the same addresses, and the resolver gives the
 * same array, which it does until it has asked again.
 */
async function decide(
  rules: Rules,
  target: EgressTarget,
  kept: Remembered | undefined,
): Promise<Remembered> {
  const own = rules.readOwnAddresses()
  const known = kept?.own === own ? kept : undefined
  if (known && !known.host) return known
  const judged = known?.host ?? judgeUnresolved(rules, target, own)
  if (!("name" in judged)) return { decision: judged, own }
  try {
    const addresses = await rules.resolve(judged.name, target.ownerId)
    if (known?.addresses === addresses) return known
    if (addresses.length === 0)
      return { decision: blocked(`${judged.name} cannot be found`), own, host: judged }
    return {
      decision: judge(rules, judged, target.port, addresses.map(parseAddress), own),
      own,
      host: judged,
      addresses,
    }
  } catch (error) {
    const reason = error instanceof CannotResolve ? error.message : "cannot be found"
    return { decision: blocked(`${judged.name} ${reason}`), own, host: judged }
  }
}

/** The decision, or the name on whose addresses it depends. */
function judgeUnresolved(
  rules: Rules,
  { hostname, port }: EgressTarget,
  own: ReadonlySet<string>,
): HostDecision | NamedHost {
  const host = parseHost(hostname)
  if (!host) return blocked("its host is neither a name nor an address")
  if (rules.deny.match(host, port) !== "none") return denied
  // Whether an entry with this port is about this host may only be known when the name is resolved.
  if (!rules.isOpen(port) && !rules.allow.hasPort(port)) return closed(port)
  if (host.kind === "address") return judge(rules, host, port, [host.address], own)
  return isLocal(host.name) ? judgeLocal(rules, host, port, own) : host
}

/**
 * All addresses have to be good: whoever mixes a forbidden one among them hopes that it is taken.
 * An undefined one is what the resolver gave and we cannot read, such as an address with a zone.
 */
function judge(
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
    if (match !== "port" && !rules.isOpen(port)) return closed(port)
    isAllowed &&= match !== "none"
    passed.push(address.text)
  }
  return { kind: "pass", addresses: passed.slice(0, limits.addressesMax), isAllowed }
}

/** Also what a translator on the way would send back to this machine. */
function isOwn(address: Address, own: ReadonlySet<string>): boolean {
  return address.forms.some((form) => own.has(form.toString()))
}

/** Names that mean this machine everywhere (RFC 6761), whatever a resolver says about them. */
function isLocal(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost")
}

/**
 * They are refused, unless the operator has named them, or a loopback address: nobody can have
 * mixed these addresses.
 */
function judgeLocal(
  rules: Rules,
  host: Host & { readonly kind: "name" },
  port: number,
  own: ReadonlySet<string>,
): HostDecision {
  const decisions = ["127.0.0.1", "::1"].map((text) =>
    judge(rules, host, port, [parseAddress(text)], own),
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

function closed(port: number): HostDecision {
  return blocked(`port ${port} is not among those that vals may reach`)
}

/** To say which address it is, or of which kind, would tell about the network. */
function hidden(host: Host): HostDecision {
  return blocked(
    `${host.kind === "name" ? host.name : host.address.text} resolves to a private address`,
  )
}

/** The address is public, so it tells nothing about the network. */
function ownMachine(host: Host): HostDecision {
  const whose = "an address of the machine on which the server runs"
  return blocked(
    host.kind === "name" ? `${host.name} resolves to ${whose}` : `${host.address.text} is ${whose}`,
  )
}

function blocked(reason: string): HostDecision {
  return { kind: "blocked", reason }
}
