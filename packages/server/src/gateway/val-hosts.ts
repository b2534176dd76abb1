import { RecentMap } from "@hamlet/kit"
import { isPass } from "../domain/requests/preview-pass.ts"

/** The val that a host name refers to. */
export interface ValAddress {
  /** Host and port in canonical form, as the val sees them. */
  readonly host: string
  /** The id of a val or of a file; undefined when the val is addressed by name. */
  readonly id: string | undefined
  /** A preview pass, instead of id and names. It is not verified yet. */
  readonly pass?: string
  readonly username: string
  readonly name: string
}

/** Recognizes the host names of vals. */
export interface ValHosts {
  /** Whether the gateway serves the host rather than the API. The val may not exist. */
  isValHost(host: string): boolean
  /** Undefined when no val can have this host. */
  parse(host: string): ValAddress | undefined
}

/** RFC 1035 allows 253 characters, to which a port is added. */
const hostCharsMax = 260

const portMax = 65_535

/**
 * The host names under `valsDomain`, except the host of the API if it is one of them. Each request
 * asks twice, so the last `hostsMax` results are cached: parsing takes 6 % of a small request.
 */
export function createValHosts(valsDomain: string, baseUrl: string, hostsMax: number): ValHosts {
  const suffix = `.${toName(valsDomain)}`
  const apiHost = new URL(baseUrl).hostname
  const isUnderDomain = (host: string) => {
    const name = toName(host)
    // Bun joins two Host headers with a comma. The API refuses such a request.
    return name.endsWith(suffix) && name !== apiHost && !name.includes(",")
  }
  const cache = new RecentMap<string, ValAddress | "api" | "invalid">(hostsMax)
  const classify = (host: string) => {
    const cached = cache.get(host)
    if (cached !== undefined) return cached
    const result = isUnderDomain(host) ? (parseHost(host, suffix) ?? "invalid") : "api"
    if (host.length <= hostCharsMax) cache.set(host, result)
    return result
  }
  return {
    isValHost: (host) => classify(host) !== "api",
    parse(host) {
      const result = classify(host)
      return typeof result === "string" ? undefined : result
    },
  }
}

/** Removes the port and the dot of the root domain. */
function toName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "")
}

function parseHost(host: string, suffix: string): ValAddress | undefined {
  if (host.length > hostCharsMax) return undefined
  const label = toName(host).slice(0, -suffix.length)
  const port = /:\d*$/.exec(host)?.[0] ?? ""
  // With an invalid port, `request.url` is not a URL, and its path is parsed differently.
  if (Number(port.slice(1)) > portMax) return undefined
  const canonical = `${label}${suffix}${port === ":" ? "" : port}`
  const names = /^([a-z][a-z0-9_]*)-([a-z][a-z0-9_-]*)$/.exec(label)
  if (names)
    return { host: canonical, id: undefined, username: names[1] ?? "", name: names[2] ?? "" }
  // Only the id counts: the address of a file does not change with the name of its owner.
  const id =
    /^(?:[a-z][a-z0-9_]*--)?([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(
      label,
    )
  if (id) return { host: canonical, id: id.slice(1).join("-"), username: "", name: "" }
  return isPass(label)
    ? { host: canonical, id: undefined, pass: label, username: "", name: "" }
    : undefined
}
