import { readFileSync } from "node:fs"
import { type ReadSetting, readInteger, readRate, refuse } from "./readers.ts"

/** The settings of outgoing traffic. */
export interface EgressConfig {
  /** Hosts, host:port or CIDR, unparsed. */
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly ports: readonly PortRange[]
  /** For TCP connections of vals. */
  readonly socketPorts: readonly PortRange[]
  /** Per request and direction. */
  readonly bytesMax: number
  readonly msMax: number
  /** Per val process. */
  readonly connectionsMax: number
  /** TCP connections of all vals of an account. */
  readonly accountSocketsMax: number
  readonly requestsPerMinute: number | undefined
  /** Additional certificate authorities, in PEM. */
  readonly ca: string | undefined
}

/** A range of ports, both ends included. */
export interface PortRange {
  readonly first: number
  readonly last: number
}

/** Reads the settings of outgoing traffic. */
export function loadEgressConfig(read: ReadSetting, isPublic: boolean): EgressConfig {
  const integer = (name: Parameters<ReadSetting>[0], standard: number, max: number) =>
    readInteger(name, read(name), 1, max) ?? standard
  const rate = "HAMLET_EGRESS_REQUESTS_PER_MINUTE"
  return {
    allow: readList(read("HAMLET_EGRESS_ALLOW")),
    deny: readList(read("HAMLET_EGRESS_DENY")),
    ports: readPorts("HAMLET_EGRESS_PORTS", read("HAMLET_EGRESS_PORTS") || "80,443,1024-65535"),
    socketPorts: readSocketPorts(read),
    bytesMax: integer("HAMLET_EGRESS_BYTES_MAX", 1_073_741_824, Number.MAX_SAFE_INTEGER),
    msMax: integer("HAMLET_EGRESS_SECONDS_MAX", 300, 86_400) * 1000,
    connectionsMax: integer("HAMLET_EGRESS_CONNECTIONS_MAX", 128, 100_000),
    accountSocketsMax: integer("HAMLET_EGRESS_SOCKETS_MAX", 512, 100_000),
    requestsPerMinute: readRate(rate, read(rate), isPublic ? 6_000 : undefined),
    ca: readCertificates(read("HAMLET_EGRESS_CA")),
  }
}

function readList(text: string): readonly string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean)
}

const portMax = 65_535

/**
 * Usual ports of web servers, databases, caches, search engines, message brokers, and mail servers
 * with authentication. Not 25, between mail servers: vals must not send spam in the server's name.
 */
const usualSocketPorts =
  "80,443,465,587,993,995,1433,3306,4222,5432-5434,5671,5672,6379-6381,6432,6543,7687,8000,8080,8443,8883,9000,9042,9092-9094,9200,11211,26257,27017-27019"

/**
 * An operator who has restricted the ports of requests has not opened others to sockets: without a
 * list for sockets, those that are in neither list stay closed.
 */
function readSocketPorts(read: ReadSetting): readonly PortRange[] {
  const text = read("HAMLET_EGRESS_SOCKET_PORTS")
  if (text === "none") return []
  if (text !== "") return readPorts("HAMLET_EGRESS_SOCKET_PORTS", text)
  const usual = readPorts("HAMLET_EGRESS_SOCKET_PORTS", usualSocketPorts)
  const restricted = read("HAMLET_EGRESS_PORTS")
  if (restricted === "") return usual
  return readPorts("HAMLET_EGRESS_PORTS", restricted).flatMap((range) =>
    usual.flatMap((other) => intersect(range, other) ?? []),
  )
}

function intersect(left: PortRange, right: PortRange): PortRange | undefined {
  const first = Math.max(left.first, right.first)
  const last = Math.min(left.last, right.last)
  return first <= last ? { first, last } : undefined
}

function readPorts(
  name: "HAMLET_EGRESS_PORTS" | "HAMLET_EGRESS_SOCKET_PORTS",
  text: string,
): readonly PortRange[] {
  return readList(text).map((part) => {
    const [, first, last] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? []
    const range = { first: Number(first), last: Number(last ?? first) }
    if (first === undefined || range.first < 1 || range.last < range.first || range.last > portMax)
      refuse(name, text, "it must be ports and ranges of ports, such as 443,8000-8999")
    return range
  })
}

function readCertificates(path: string): string | undefined {
  if (path === "") return undefined
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch {
    refuse("HAMLET_EGRESS_CA", path, "the file cannot be read")
  }
  return text.includes("-----BEGIN CERTIFICATE-----")
    ? text
    : refuse("HAMLET_EGRESS_CA", path, "it must be a file of certificates in PEM")
}
