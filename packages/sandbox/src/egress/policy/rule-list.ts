import { Refused } from "@hamlet/kit"
import type { IPv4, IPv6 } from "ipaddr.js"
import { parseAddress } from "./address-rule.ts"
import { type Host, parseHost } from "./host.ts"

/** The hosts that an operator allows, or denies. */
export interface RuleList {
  match(host: Host, port: number): Match
  /** Whether some entry covers the host, on whatever port. */
  hasHost(host: Host): boolean
  /** Whether some entry names the port. */
  hasPort(port: number): boolean
}

/** How a list matches a host: not at all, by an entry without a port, or by one with this port. */
export type Match = "none" | "host" | "port"

/** How the entries of a setting are parsed. */
export interface RuleKind {
  readonly setting: "HAMLET_EGRESS_ALLOW" | "HAMLET_EGRESS_DENY"
  /** Whether `*` means everything. */
  readonly canBeAll: boolean
  /** Whether an entry also matches the other forms of an address, or only the address itself. */
  readonly isAnyForm: boolean
}

export const allowRules: RuleKind = {
  setting: "HAMLET_EGRESS_ALLOW",
  canBeAll: false,
  isAnyForm: false,
}
export const denyRules: RuleKind = {
  setting: "HAMLET_EGRESS_DENY",
  canBeAll: true,
  isAnyForm: true,
}

interface Rule {
  readonly port: number | undefined
  covers(host: Host): boolean
}

/**
 * Parses the entries: `host`, `*.suffix` or an address, each with an optional `:port`, or a network.
 * Throws when an entry is invalid.
 */
export function createRuleList(kind: RuleKind, entries: readonly string[]): RuleList {
  const rules = entries.map((entry) => parseRule(kind, entry) ?? refuse(kind, entry))
  return {
    match(host, port) {
      let match: Match = "none"
      for (const rule of rules) {
        if ((rule.port !== undefined && rule.port !== port) || !rule.covers(host)) continue
        if (rule.port === port) return "port"
        match = "host"
      }
      return match
    },
    hasHost: (host) => rules.some((rule) => rule.covers(host)),
    hasPort: (port) => rules.some((rule) => rule.port === port),
  }
}

function refuse({ setting, canBeAll }: RuleKind, entry: string): never {
  const examples = `api.internal, *.internal, 10.0.0.5:8080, [fd00::5]:8080 or 10.1.0.0/16${canBeAll ? ", or * for everything" : ""}`
  // Only the operator sees this message, when the server starts.
  throw new Refused(
    "invalid_request",
    `Cannot use ${setting} "${entry}": it must be a list of hosts and addresses, each with an optional port, or networks, such as ${examples}`,
  )
}

function parseRule(kind: RuleKind, entry: string): Rule | undefined {
  if (entry.includes("/")) return toNetworkRule(kind, entry, undefined)
  const address = parseAddress(entry)
  if (address) return toNetworkRule(kind, address.text, undefined)
  const [, host = "", digits] = /^(\[.*\]|[^:]*)(?::(\d{1,5}))?$/.exec(entry) ?? []
  const port = digits === undefined ? undefined : Number(digits)
  if (port === 0 || (port ?? 0) > portMax) return undefined
  if (host === "*") return kind.canBeAll ? { port, covers: () => true } : undefined
  const isSuffix = host.startsWith("*.")
  const parsed = parseHost(isSuffix ? host.slice(2) : host)
  if (parsed?.kind === "name") return toNameRule(parsed.name, isSuffix, port)
  // The URL parser reads 10.1 as 10.0.0.1, which the operator hardly means.
  const isWritten = parsed && !isSuffix && (host.startsWith("[") || parsed.address.text === host)
  return isWritten ? toNetworkRule(kind, parsed.address.text, port) : undefined
}

const portMax = 65_535

function toNameRule(name: string, isSuffix: boolean, port: number | undefined): Rule {
  const isCovered = isSuffix
    ? (other: string) => other.endsWith(`.${name}`)
    : (other: string) => other === name
  return { port, covers: (host) => host.kind === "name" && isCovered(host.name) }
}

/** An address is a network of one. */
function toNetworkRule(
  { isAnyForm }: RuleKind,
  text: string,
  port: number | undefined,
): Rule | undefined {
  const network = parseNetwork(text)
  if (!network) return undefined
  const isIn = (form: IPv4 | IPv6) =>
    form.kind() === network.start.kind() && form.match(network.start, network.bits)
  return {
    port,
    covers(host) {
      if (host.kind === "name") return false
      const { forms } = host.address
      return isAnyForm ? forms.some(isIn) : isIn(forms[0])
    },
  }
}

function parseNetwork(
  text: string,
): { readonly start: IPv4 | IPv6; readonly bits: number } | undefined {
  const [, start = "", digits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const address = parseAddress(start)
  if (!address) return undefined
  const [form] = address.forms
  const bitsMax = form.kind() === "ipv4" ? 32 : 128
  // An IPv4-mapped address was parsed as IPv4, which lacks the first 96 bits.
  const mappedBits = start.includes(":") && bitsMax === 32 ? 96 : 0
  const bits = digits === undefined ? bitsMax : Number(digits) - mappedBits
  return bits >= 0 && bits <= bitsMax ? { start: form, bits } : undefined
}
