import type { OwnServer, RoutePolicy } from "./decide.ts"
import { type HostDecision, isLocal } from "./egress-policy.ts"
import { parseHost } from "./host.ts"
import { Refusal } from "./refusal.ts"

/** A TCP connection that a program asks for. */
export interface SocketTarget {
  /** A name or an address. */
  readonly host: string
  /** The address of that name which the program has chosen, if it has. */
  readonly address?: string | undefined
  readonly port: number
}

/** Where a socket leads. */
export type SocketRoute =
  /** To one of the addresses, which were checked. They are tried in this order. */
  | { readonly kind: "connect"; readonly addresses: readonly string[] }
  /** To this server, which programs reach by its names. The origin is that of a URL. */
  | { readonly kind: "own"; readonly origin: string }

/**
 * Decides whether a program may open a connection, and to which addresses. The rules are those of
 * requests, with a port list for sockets.
 */
export async function decideSocket(
  { own, hosts, addressesMax }: RoutePolicy,
  ownerId: string,
  { host, address, port }: SocketTarget,
): Promise<SocketRoute | Refusal> {
  const ownHost = findOwnHost(own, host, port)
  if (ownHost !== undefined)
    return port === 443 ? onlyFetch : { kind: "own", origin: `http://${ownHost}` }
  const named = await hosts.checkHost({ hostname: host, port, ownerId, use: "socket" })
  if (named.kind === "blocked") return toRefusal(named)
  if (address === undefined)
    return { kind: "connect", addresses: named.addresses.slice(0, addressesMax) }
  const chosen = parseHost(address)
  if (chosen?.kind !== "address") return new Refusal(400, "its address is not an address")
  const { text } = chosen.address
  if (named.addresses.includes(text)) return { kind: "connect", addresses: [text] }
  // Not an address of the name, or no longer: then it must be allowed by itself.
  const alone = await hosts.checkHost({ hostname: text, port, ownerId, use: "socket" })
  if (alone.kind === "blocked") return toRefusal(alone)
  return { kind: "connect", addresses: alone.addresses }
}

/** The addresses of a name, if the program may reach them on some port. */
export async function decideLookup(
  { hosts }: RoutePolicy,
  ownerId: string,
  host: string,
): Promise<readonly string[] | Refusal> {
  // Local names always mean this machine. A connection to it is decided by name and port.
  const parsed = parseHost(host)
  if (parsed?.kind === "name" && isLocal(parsed.name)) return ["127.0.0.1", "::1"]
  const decision = await hosts.checkHost({ hostname: host, port: 0, ownerId, use: "lookup" })
  return decision.kind === "blocked" ? toRefusal(decision) : decision.addresses
}

const onlyFetch = new Refusal(
  403,
  "programs reach this server with fetch, not with TLS over a socket",
)

/** The host of a URL of this server that has this name and port. */
function findOwnHost(own: OwnServer, host: string, port: number): string | undefined {
  const parsed = parseHost(host)
  if (parsed?.kind !== "name") return undefined
  const withPort = `${parsed.name}:${port}`
  const hosts = port === 80 || port === 443 ? [parsed.name, withPort] : [withPort]
  return hosts.find((text) => own.isApiHost(text) || own.isProgramHost(text))
}

/** The refusal of a host that is blocked. */
export function toRefusal({
  reason,
  isNotFound,
}: HostDecision & { readonly kind: "blocked" }): Refusal {
  return new Refusal(403, reason, isNotFound ? "ENOTFOUND" : undefined)
}
