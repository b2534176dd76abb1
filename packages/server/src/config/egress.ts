import { readFileSync } from "node:fs"
import { type ReadSetting, readInteger, readRate, refuse } from "./readers.ts"

/** The settings of outgoing traffic. */
export interface EgressConfig {
  /** Hosts, host:port or CIDR, unparsed. */
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly ports: readonly PortRange[]
  /** Per request and direction. */
  readonly bytesMax: number
  readonly msMax: number
  /** Per val process. */
  readonly connectionsMax: number
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
    ports: readPorts(read("HAMLET_EGRESS_PORTS") || "80,443,1024-65535"),
    bytesMax: integer("HAMLET_EGRESS_BYTES_MAX", 1_073_741_824, Number.MAX_SAFE_INTEGER),
    msMax: integer("HAMLET_EGRESS_SECONDS_MAX", 300, 86_400) * 1000,
    connectionsMax: integer("HAMLET_EGRESS_CONNECTIONS_MAX", 128, 100_000),
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

function readPorts(text: string): readonly PortRange[] {
  return readList(text).map((part) => {
    const [, first, last] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? []
    const range = { first: Number(first), last: Number(last ?? first) }
    if (first === undefined || range.first < 1 || range.last < range.first || range.last > portMax)
      refuse(
        "HAMLET_EGRESS_PORTS",
        text,
        "it must be ports and ranges of ports, such as 443,8000-8999",
      )
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
