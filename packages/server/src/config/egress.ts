import {
  integer,
  pemFile,
  type ReadSetting,
  rate,
  readTable,
  text,
  texts,
  toggle,
  webAddress,
} from "./setting.ts"

/** A range of ports, both ends included. */
interface PortRange {
  readonly first: number
  readonly last: number
}

const portMax = 65_535

const ports = {
  accept(value: string): PortRange | undefined {
    const [, first, last] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(value) ?? []
    const range = { first: Number(first), last: Number(last ?? first) }
    const isRange = range.first >= 1 && range.last >= range.first && range.last <= portMax
    return isRange ? range : undefined
  },
  reason: "it must be ports and ranges of ports, such as 443,8000-8999",
}

/**
 * The default has the usual ports of web servers, databases, caches, search engines, message
 * brokers, and mail servers with authentication. Not 25, between mail servers: vals must not send
 * spam in the server's name.
 */
const socketPortList = texts({
  env: "HAMLET_EGRESS_SOCKET_PORTS",
  default:
    "80,443,465,587,993,995,1433,3306,4222,5432-5434,5671,5672,6379-6381,6432,6543,7687,8000,8080,8443,8883,9000,9042,9092-9094,9200,11211,26257,27017-27019",
  ...ports,
  meaning:
    "Ports that vals may reach over TCP sockets, in addition to ports in HAMLET_EGRESS_ALLOW, or `none`. If only HAMLET_EGRESS_PORTS is set, the default ports that are in it.",
})
const socketPorts: typeof socketPortList = {
  ...socketPortList,
  parse: (value, isPublic) => (value === "none" ? [] : socketPortList.parse(value, isPublic)),
}

/** Outgoing traffic of vals. */
export const egressSettings = {
  /** Unparsed. */
  allow: texts({
    env: "HAMLET_EGRESS_ALLOW",
    meaning:
      "Private destinations that vals may reach: hosts, `host:port` or networks such as `10.1.0.0/16`, separated by commas.",
  }),
  deny: texts({
    env: "HAMLET_EGRESS_DENY",
    meaning:
      "Destinations that vals may not reach, in the same format; `*` means all. It takes precedence over the allowed ones.",
  }),
  ports: texts({
    env: "HAMLET_EGRESS_PORTS",
    default: "80,443,1024-65535",
    ...ports,
    meaning: "Ports that vals may reach, in addition to ports in HAMLET_EGRESS_ALLOW.",
  }),
  socketPorts,
  bytesMax: integer({
    env: "HAMLET_EGRESS_BYTES_MAX",
    default: 1_073_741_824,
    max: Number.MAX_SAFE_INTEGER,
    meaning: "Size limit of an outgoing request, and of its response.",
  }),
  msMax: integer({
    env: "HAMLET_EGRESS_SECONDS_MAX",
    default: 300,
    max: 86_400,
    unit: 1000,
    meaning:
      "Time limit of an outgoing request and its response. A WebSocket may last as long as its process.",
  }),
  connectionsMax: integer({
    env: "HAMLET_EGRESS_CONNECTIONS_MAX",
    default: 128,
    max: 100_000,
    meaning: "Concurrent outgoing requests, WebSockets and sockets of one val's process.",
  }),
  accountSocketsMax: integer({
    env: "HAMLET_EGRESS_SOCKETS_MAX",
    default: 512,
    max: 100_000,
    meaning: "Concurrent TCP sockets of all vals of one account.",
  }),
  filesMax: integer({
    env: "HAMLET_EGRESS_FILES_MAX",
    default: "half of what `ulimit -n` allows",
    max: 10_000_000,
    meaning:
      "Open files of the server that connections of vals may take: one for a connection to another server, and one to the val. One account may take as many as are left for all, and at most 4096.",
  }),
  requestsPerMinute: rate({
    env: "HAMLET_EGRESS_REQUESTS_PER_MINUTE",
    default: 6_000,
    ifPublic: true,
    meaning: "Outgoing requests per minute and val process, or `none`.",
  }),
  ca: pemFile({
    env: "HAMLET_EGRESS_CA",
    kind: "CERTIFICATE",
    meaning: "PEM file of additional certificate authorities for outgoing requests.",
  }),
}

const registry = { ...webAddress, accept: (url: string) => toFolder(webAddress.accept(url)) }
const jsrUrl = "https://jsr.io/"

/** Where the packages of vals come from. */
export const dependencySettings = {
  npmRegistry: text({
    env: "HAMLET_NPM_REGISTRY",
    default: "from the machine's npm configuration",
    ...registry,
    meaning: "Registry of the npm packages of vals.",
  }),
  jsrUrl: text({
    env: "HAMLET_JSR_URL",
    default: jsrUrl,
    ...registry,
    meaning: "Registry of the JSR packages of vals.",
  }),
  fetchesTown: toggle({
    env: "HAMLET_ESM_TOWN",
    choices: ["fetch", "local"],
    on: "fetch",
    meaning:
      "What an import of `https://esm.town/v/{user}/{val}` means if this server has no such val: `fetch` fetches it from there when the version is saved, `local` does not.",
  }),
  resolveMsMax: integer({
    env: "HAMLET_RESOLVE_SECONDS_MAX",
    default: 120,
    max: 86_400,
    unit: 1000,
    meaning: "Time limit for resolving the packages of one version.",
  }),
}

export function loadDependencyConfig(read: ReadSetting) {
  const settings = readTable(dependencySettings, read)
  return { ...settings, jsrUrl: settings.jsrUrl ?? jsrUrl }
}

/**
 * An operator who has restricted the ports of requests has not opened others to sockets: without a
 * list for sockets, those that are in neither list stay closed.
 */
export function loadEgressConfig(read: ReadSetting, isPublic: boolean) {
  const settings = readTable(egressSettings, read, isPublic)
  if (read(socketPorts.env) !== "" || read(egressSettings.ports.env) === "") return settings
  return {
    ...settings,
    socketPorts: settings.ports.flatMap((range) =>
      settings.socketPorts.flatMap((other) => intersect(range, other) ?? []),
    ),
  }
}

function intersect(left: PortRange, right: PortRange): PortRange | undefined {
  const first = Math.max(left.first, right.first)
  const last = Math.min(left.last, right.last)
  return first <= last ? { first, last } : undefined
}

function toFolder(url: string | undefined): string | undefined {
  return url === undefined ? undefined : `${url}/`
}
