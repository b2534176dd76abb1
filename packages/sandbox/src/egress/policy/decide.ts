import type { HeaderList } from "@hamlet/http1"
import { depthHeader, depthMax, type Substitution } from "../../program/outgoing-request.ts"
import type { EgressPolicy, HostDecision } from "./egress-policy.ts"
import { forwardedHeaders } from "./forwarded-headers.ts"
import { Refusal } from "./refusal.ts"
import type { ResolveRecords } from "./resolve-records.ts"
import { substituteSecrets } from "./substitute-secrets.ts"
import type { Target } from "./target.ts"

/** This server, which programs reach by its host names whatever their addresses are. */
export interface OwnServer {
  /** Hosts are in lower case, with their port unless it is the default one. */
  isApiHost(host: string): boolean
  isProgramHost(host: string): boolean
  /** Calls the API on behalf of a program that runs on that account, and of its run, if it is known. */
  fetchApi(request: Request, accountId: string, runId: string | undefined): Promise<Response>
  /** The address at which the server listens; undefined until it does. */
  readonly address: () => { readonly hostname: string; readonly port: number } | undefined
  /**
   * The header in which a reverse proxy passes the address of a client. Programs bypass that proxy, so
   * they must not set it.
   */
  readonly addressHeader?: string | undefined
}

/** What decides about the requests of one sandbox. */
export interface RoutePolicy {
  readonly own: OwnServer
  readonly hosts: EgressPolicy
  readonly resolveRecords: ResolveRecords
  /** Domains of the network of this machine. Programs cannot look up their records. */
  readonly privateDomains: readonly string[]
  /** Certificate authorities, in PEM; undefined for the default ones. */
  readonly ca: string[] | undefined
  readonly addressesMax: number
}

/** The run that sends a request, or the process when the run is unknown. */
export interface RequestSender {
  readonly ownerId: string
  readonly depth: number
  readonly substitutions: readonly Substitution[]
}

/** The part of a request on which the decision depends. */
export interface DecidedRequest {
  readonly target: Target
  readonly headers: HeaderList
}

/** How a request is forwarded. */
export type Route = ApiRoute | ConnectRoute

/** To the API of this server, in this process. */
export interface ApiRoute extends ForwardedHead {
  readonly kind: "api"
}

/** Over a connection to one of the addresses, which are tried in this order. */
export interface ConnectRoute extends ForwardedHead {
  readonly kind: "connect"
  /** Connections with equal keys lead to the same host in the same way. */
  readonly key: string
  /** Addresses, never names: the policy has checked exactly these. */
  readonly addresses: readonly string[]
  readonly port: number
  /** For messages. */
  readonly host: string
  readonly tls: Bun.TLSOptions | undefined
}

/** What is sent to the server that the request goes to. */
interface ForwardedHead {
  /** With the values of secrets. */
  readonly headers: HeaderList
  /** Sentences for the program's owner: why a placeholder was not replaced. */
  readonly warnings: readonly string[]
}

/**
 * Decides whether a request is forwarded, where it goes and which headers it has there. Opens no
 * connection and changes nothing; the only thing that it waits for is the resolution of a name.
 */
export async function decide(
  policy: RoutePolicy,
  sender: RequestSender,
  request: DecidedRequest,
): Promise<Route | Refusal> {
  const { host } = request.target
  if (policy.own.isApiHost(host)) return decideOwn(policy, sender, request, () => apiRoute)
  if (policy.own.isProgramHost(host))
    return decideOwn(policy, sender, request, () => toOwnRoute(policy.own, host))
  const { hostname, port } = request.target
  const decision = await policy.hosts.checkHost({ hostname, port, ownerId: sender.ownerId })
  if (decision.kind === "blocked") return new Refusal(403, decision.reason)
  return toOutsideRoute(policy, sender, request, decision)
}

/** Every call from a program to this server makes the chain of calls one step longer. */
function decideOwn(
  { own: { addressHeader } }: RoutePolicy,
  sender: RequestSender,
  request: DecidedRequest,
  findRoute: () => RouteWithoutHead | Refusal,
): Route | Refusal {
  const depth = sender.depth + 1
  if (depth > depthMax)
    return new Refusal(508, `programs have called one another ${depthMax} times already`)
  const route = findRoute()
  if (route instanceof Refusal) return route
  const { headers, warnings } = toForwardedHead(sender, request, { isTrusted: true })
  return {
    ...route,
    headers: [...headers.filter(([name]) => name !== addressHeader), [depthHeader, String(depth)]],
    warnings,
  }
}

type RouteWithoutHead =
  | Omit<ApiRoute, keyof ForwardedHead>
  | Omit<ConnectRoute, keyof ForwardedHead>

const apiRoute: RouteWithoutHead = { kind: "api" }

function toOwnRoute(own: OwnServer, host: string): RouteWithoutHead | Refusal {
  const address = own.address()
  if (!address) return new Refusal(502, "this server does not listen yet")
  return {
    kind: "connect",
    key: `own//${host}`,
    addresses: [address.hostname],
    port: address.port,
    host,
    tls: undefined,
  }
}

type PassedHost = Extract<HostDecision, { readonly kind: "pass" }>

function toOutsideRoute(
  { ca, addressesMax }: RoutePolicy,
  sender: RequestSender,
  request: DecidedRequest,
  { addresses, isAllowed }: PassedHost,
): Route {
  const { hostname, port, host, isTls } = request.target
  const { headers, warnings } = toForwardedHead(sender, request, { isTrusted: isTls || isAllowed })
  return {
    kind: "connect",
    key: `${isTls ? "https" : "http"}//${host}`,
    addresses: addresses.slice(0, addressesMax),
    port,
    host,
    tls: isTls ? toTls(hostname, ca) : undefined,
    headers,
    warnings,
  }
}

/** `isTrusted`: the request is encrypted, goes to this server, or its host was allowed by name. */
function toForwardedHead(
  { substitutions }: RequestSender,
  { target, headers }: DecidedRequest,
  { isTrusted }: { readonly isTrusted: boolean },
): ForwardedHead {
  const warnings: string[] = []
  const forwarded = substituteSecrets(
    forwardedHeaders(headers),
    target.host,
    isTrusted,
    substitutions,
    (warning) => warnings.push(warning),
  )
  return { headers: forwarded, warnings }
}

/**
 * The certificate must be valid for the host name of the URL, which may end with a dot. The names
 * in certificates do not.
 */
function toTls(hostname: string, ca: string[] | undefined): Bun.TLSOptions {
  const serverName = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "")
  return { serverName, rejectUnauthorized: true, ...(ca && { ca }) }
}
