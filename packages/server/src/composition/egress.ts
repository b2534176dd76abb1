import { currentWork, readOpenFilesMax, type TraceSpan } from "@hamlet/kit"
import { PackageResolver, resolverLimits } from "@hamlet/npm"
import {
  createEgressPolicy,
  Egress,
  type EgressPolicy,
  egressLimits,
  type OutgoingRequest,
  type OwnServer,
  type Sandboxes,
} from "@hamlet/sandbox"
import type { Config } from "../config/config.ts"
import type { DependencyResolver } from "../domain/modules/lockfiles.ts"
import type { Gateway } from "../gateway/gateway.ts"
import type { App } from "../http/app.ts"
import { importRules } from "../runtime/packages/import-rules.ts"
import { createVersionPackages } from "../runtime/packages/version-packages.ts"
import type { Limits } from "./accounts.ts"
import type { Foundation } from "./foundation.ts"
import { readStandardModules } from "./modules.ts"

/** The servers of this process, to which vals may send requests. */
export interface OwnServers {
  readonly fetchApi: App["fetch"]
  readonly isValHost: Gateway["isValHost"]
}

/** Where the system does not say: what systems allow without being asked for more. */
const openFilesGuess = 10_240

/** Creates the egress proxy of all sandboxes. */
export function createEgress(
  { config, onErrorOf }: Foundation,
  { allowances }: Limits,
  { fetchApi, isValHost }: OwnServers,
): Egress {
  const { allow, deny, ports, socketPorts, ca, ...limits } = config.egress
  const base = new URL(config.baseUrl)
  const valsPort = URL.parse(`http://${config.valsDomain}`)?.port ?? ""
  const address = { hostname: reachableAs[config.host] ?? config.host, port: config.port }
  const own: OwnServer = {
    isApiHost: (host) => host === base.host,
    isProgramHost: (host) => portOf(host) === valsPort && isValHost(host),
    // A val has no client address. Each account gets a rate limit of its own, so that no account
    // can use up the limit of all unauthenticated requests.
    fetchApi: (request, accountId, runId) =>
      fetchApi(withoutBasePath(request, base.pathname), {
        address: () => "a val",
        rateKey: `val of ${accountId}`,
        isVal: true,
        runId,
      }),
    address: () => address,
    addressHeader: config.addressHeader,
  }
  const policy = createEgressPolicy({ allow, deny, ports, socketPorts })
  return new Egress({
    policy,
    limits: {
      ...egressLimits,
      ...limits,
      filesMax: limits.filesMax ?? Math.floor((readOpenFilesMax() ?? openFilesGuess) / 2),
      backgroundMsMax: config.runs.runMsMax,
    },
    ca,
    own,
    takeBytes: allowances.takeBytes,
    onError: onErrorOf("egress"),
  })
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
  sandboxes: () => Promise<Sandboxes>,
  onError: (error: unknown) => void,
): DependencyResolver & Pick<PackageResolver<unknown>, "stop"> {
  // The registries do not change: one policy serves every listener.
  let policy: EgressPolicy | undefined
  const resolver = new PackageResolver({
    sandboxes,
    rules: importRules,
    npmRegistry: dependencies.npmRegistry,
    jsrUrl: dependencies.jsrUrl,
    openEgress(path, { allow: registries, note }) {
      policy ??= createEgressPolicy({ allow: [...allow, ...registries], deny, ports })
      const door = egress.open({ requests: path }, policy)
      door.setClient(toGuest(note, currentWork()?.span))
      return door
    },
    limits: { ...resolverLimits, resolveMsMax: dependencies.resolveMsMax },
    onError,
  })
  const importHosts = {
    baseUrls: [baseUrl, ...formerBaseUrls],
    fetchesTown: dependencies.fetchesTown,
  }
  const facts = { importHosts, standardModules: readStandardModules() }
  return { ...createVersionPackages(resolver, facts), stop: () => resolver.stop() }
}

/** Requests of one resolution that are in its trace: packages with many files take thousands. */
const packageSpansMax = 100

/** Package downloads belong to no val: they have no secrets, and no account pays for them. */
function toGuest(note: (request: OutgoingRequest) => void, span: TraceSpan | undefined) {
  const run = { id: "", depth: 0, log() {}, skipLogs() {}, fail() {}, sent: note }
  const traced = span && { ...run, span }
  let spansLeft = packageSpansMax
  return {
    ownerId: "packages",
    egressKey: "",
    substitutions: [],
    findRun: () => ({ run: (spansLeft-- > 0 && traced) || run, depth: 0 }),
    findSocketRun: () => run,
    mask: (text: string, charsMax?: number) => text.slice(0, charsMax),
  }
}
