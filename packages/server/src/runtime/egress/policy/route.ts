import { depthMax } from "../../../domain/egress.ts"
import type { Destination } from "../proxy/upstream.ts"
import type { EgressPolicy } from "./policy.ts"
import { Refusal } from "./refusal.ts"
import type { Target } from "./target.ts"

/** This server itself, by name. */
export interface OwnServer {
  /** Hosts are in lower case, with their port unless it is the usual one. */
  isApiHost(host: string): boolean
  isValHost(host: string): boolean
  /** For a val on that account. */
  fetchApi(request: Request, accountId: string): Promise<Response>
  /** Where it listens; undefined while it does not. */
  readonly address: () => { readonly hostname: string; readonly port: number } | undefined
  /**
   * The header in which a proxy before the server tells who a visitor is: vals go past the proxy,
   * and may not say it in its place.
   */
  readonly addressHeader?: string | undefined
}

/** How a request gets to where it wants to go. */
export type Route = { readonly kind: "api" } | ConnectRoute

/** To one of these addresses, in the order in which they are tried. */
export interface ConnectRoute extends Omit<Destination, "address"> {
  readonly kind: "connect"
  readonly addresses: readonly string[]
  /** To a val of this server. */
  readonly isOwn: boolean
  /** Nobody on the way reads along. */
  readonly isTrusted: boolean
}

/** What it takes to decide. */
export interface RouteDeps {
  readonly own: OwnServer
  readonly policy: EgressPolicy
  readonly ca: string[] | undefined
  readonly addressesMax: number
}

/** Who wants to go there. */
export interface Asker {
  readonly ownerId: string
  readonly depth: number
}

/**
 * Decides where a request goes, if anywhere. Its own host is known by name, whatever its address;
 * all others are the policy's to judge.
 */
export async function chooseRoute(
  deps: RouteDeps,
  target: Target,
  who: Asker,
): Promise<Route | Refusal> {
  const isApi = deps.own.isApiHost(target.host)
  if (isApi || deps.own.isValHost(target.host)) {
    if (who.depth + 1 > depthMax)
      return new Refusal(508, `vals have called one another ${depthMax} times already`)
    return isApi ? apiRoute : toOwnRoute(deps.own, target)
  }
  const { hostname, port, host, isTls } = target
  const decision = await deps.policy.decide({ hostname, port, ownerId: who.ownerId })
  if (decision.kind === "blocked") return new Refusal(403, decision.reason)
  const addresses =
    decision.addresses.length > deps.addressesMax
      ? decision.addresses.slice(0, deps.addressesMax)
      : decision.addresses
  const tls = isTls ? toTls(hostname, deps.ca) : undefined
  const key = `${isTls ? "https" : "http"}//${host}`
  return {
    kind: "connect",
    key,
    addresses,
    port,
    host,
    tls,
    isOwn: false,
    isTrusted: isTls || decision.isAllowed,
  }
}

const apiRoute: Route = { kind: "api" }

function toOwnRoute(own: OwnServer, { host }: Target): Route | Refusal {
  const address = own.address()
  if (!address) return new Refusal(502, "this server does not listen yet")
  const { hostname, port } = address
  return {
    kind: "connect",
    key: `own//${host}`,
    addresses: [hostname],
    port,
    host,
    tls: undefined,
    isOwn: true,
    isTrusted: true,
  }
}

/**
 * The certificate has to be for the name that was asked for. A name may end with the dot of the
 * root, which no certificate has.
 */
function toTls(hostname: string, ca: string[] | undefined): Bun.TLSOptions {
  const serverName = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "")
  return { serverName, rejectUnauthorized: true, ...(ca && { ca }) }
}
