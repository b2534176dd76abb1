import type { Config } from "../config/config.ts"
import type { OutgoingRequest } from "../domain/egress.ts"
import { resolverLimits } from "../runtime/dependencies/resolver-limits.ts"
import { SandboxedResolver, type ToolHost } from "../runtime/dependencies/sandboxed-resolver.ts"
import { Egress } from "../runtime/egress/egress.ts"
import { egressLimits } from "../runtime/egress/egress-limits.ts"
import type { OwnServer } from "../runtime/egress/policy/decide.ts"
import { createEgressPolicy, type EgressPolicy } from "../runtime/egress/policy/policy.ts"
import { readStandardModules } from "./modules.ts"

/** What the runtime needs of the rest of the program. */
export interface RuntimeHost {
  /** Sends a request of a val to the API. */
  fetchApi(request: Request, accountId: string, runId: string | undefined): Promise<Response>
  isValHost(host: string): boolean
  /** Counts bytes in both directions on an account. Throws when its allowance is used up. */
  takeBytes(accountId: string, bytes: number): void
  /** Called when sandboxes can no longer be started, and without a problem when they can again. */
  onAvailability(problem: string | undefined): void
  /** The account's quota of concurrent runs, if it has one. */
  runsAtOnceOf(accountId: string): number | null | undefined
  onError(error: unknown): void
}

/** Creates the egress proxy of all sandboxes. */
export function createEgress(
  config: Config,
  { fetchApi, isValHost, takeBytes, onError }: RuntimeHost,
): Egress {
  const { allow, deny, ports, socketPorts, ca, ...limits } = config.egress
  const base = new URL(config.baseUrl)
  const valsPort = URL.parse(`http://${config.valsDomain}`)?.port ?? ""
  const address = { hostname: reachableAs[config.host] ?? config.host, port: config.port }
  const own: OwnServer = {
    isApiHost: (host) => host === base.host,
    isValHost: (host) => portOf(host) === valsPort && isValHost(host),
    fetchApi: (request, accountId, runId) =>
      fetchApi(withoutBasePath(request, base.pathname), accountId, runId),
    address: () => address,
    addressHeader: config.addressHeader,
  }
  const policy = createEgressPolicy({ allow, deny, ports, socketPorts })
  return new Egress({ policy, limits: { ...egressLimits, ...limits }, ca, own, takeBytes, onError })
}

/** The loopback address of a server that listens on every interface. */
const reachableAs: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" }

function portOf(host: string): string {
  return /:(\d+)$/.exec(host)?.[1] ?? ""
}

/** Removes the path of the base URL, as a proxy in front of the server would. */
function withoutBasePath(request: Request, path: string): Request {
  if (path === "/" || path === "") return request
  const url = new URL(request.url)
  if (!url.pathname.startsWith(path)) return request
  url.pathname = url.pathname.slice(path.length) || "/"
  return new Request(url, request)
}

/** Creates the resolver, which fetches packages through egress listeners of its own. */
export function createResolver(
  { baseUrl, formerBaseUrls, egress: { allow, deny, ports }, dependencies }: Config,
  egress: Egress,
  tools: () => Promise<ToolHost>,
  onError: (error: unknown) => void,
): SandboxedResolver {
  // The registries do not change: one policy serves every listener.
  let policy: EgressPolicy | undefined
  return new SandboxedResolver({
    tools,
    importHosts: {
      baseUrls: [baseUrl, ...formerBaseUrls],
      fetchesTown: dependencies.fetchesTown,
    },
    standardModules: readStandardModules(),
    npmRegistry: dependencies.npmRegistry,
    jsrUrl: dependencies.jsrUrl,
    openEgress(path, { allow: registries, note }) {
      policy ??= createEgressPolicy({ allow: [...allow, ...registries], deny, ports })
      const door = egress.open(path, { policy })
      door.setClient(toGuest(note))
      return door
    },
    limits: { ...resolverLimits, resolveMsMax: dependencies.resolveMsMax },
    onError,
  })
}

/** Package downloads belong to no val: they have no secrets, and no account pays for them. */
function toGuest(note: (request: OutgoingRequest) => void) {
  const run = { id: "", depth: 0, log() {}, skipLogs() {}, fail() {}, sent: note }
  return {
    ownerId: "packages",
    egressKey: "",
    substitutions: [],
    findRun: () => ({ run, depth: 0 }),
    findSocketRun: () => undefined,
    mask: (text: string) => text,
  }
}
