import { isPass } from "../domain/requests/preview-pass.ts"

/** What a host name says about a val. */
export interface ValAddress {
  /** Host and port as the val is to see them. */
  readonly host: string
  /** Undefined when the val is addressed by its names. */
  readonly id: string | undefined
  /** There instead of an id or names, though it may open nothing. */
  readonly pass?: string
  readonly username: string
  readonly name: string
}

/** Which host names are those of vals. */
export interface ValHosts {
  /**
   * Whether the host belongs to the vals rather than to the API, though there may be no such val.
   * Asked for every request.
   */
  isValHost(host: string): boolean
  /** Undefined when the host cannot be that of a val. */
  parse(host: string): ValAddress | undefined
}

/** RFC 1035 allows 253 characters; a port comes on top. */
const hostCharsMax = 260

const portMax = 65_535

/** The host names under `valsDomain`, except that of the API, which may be one of them. */
export function createValHosts(valsDomain: string, baseUrl: string, hostsMax: number): ValHosts {
  const suffix = `.${toName(valsDomain)}`
  const apiHost = new URL(baseUrl).hostname
  const isUnderDomain = (host: string) => {
    const name = toName(host)
    // Bun makes one value of two Host headers, with a comma between them. The API refuses it.
    return name.endsWith(suffix) && name !== apiHost && !name.includes(",")
  }
  const known = new Map<string, ValAddress | "other" | "nothing">()
  const look = (host: string) => {
    const remembered = known.get(host)
    if (remembered !== undefined) return remembered
    const meaning = isUnderDomain(host) ? (parseHost(host, suffix) ?? "nothing") : "other"
    // Whoever makes up host names makes us forget sooner, not remember more.
    if (known.size >= hostsMax) known.clear()
    if (host.length <= hostCharsMax) known.set(host, meaning)
    return meaning
  }
  return {
    isValHost: (host) => look(host) !== "other",
    parse(host) {
      const meaning = look(host)
      return typeof meaning === "string" ? undefined : meaning
    },
  }
}

/** Without port and the dot that stands for the root of all names. */
function toName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "")
}

function parseHost(host: string, suffix: string): ValAddress | undefined {
  if (host.length > hostCharsMax) return undefined
  const label = toName(host).slice(0, -suffix.length)
  const port = /:\d*$/.exec(host)?.[0] ?? ""
  // With a port that is none, the address of the request is no URL, and its path is not what a
  // URL's would be.
  if (Number(port.slice(1)) > portMax) return undefined
  const canonical = `${label}${suffix}${port === ":" ? "" : port}`
  const names = /^([a-z][a-z0-9_]*)-([a-z][a-z0-9_]*)$/.exec(label)
  if (names)
    return { host: canonical, id: undefined, username: names[1] ?? "", name: names[2] ?? "" }
  const id = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(label)
  if (id) return { host: canonical, id: id.slice(1).join("-"), username: "", name: "" }
  return isPass(label)
    ? { host: canonical, id: undefined, pass: label, username: "", name: "" }
    : undefined
}
