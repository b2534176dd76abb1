/** A use of a package in a val of at most 20 lines. */
export interface PackageCase {
  /** The module. Its first import names the package and the version. */
  readonly code: string
  /**
   * What its default export returns, as JSON. The function gets the addresses of the services. A
   * pattern is compared with the text of a string.
   */
  readonly returns?: unknown
  /** For a module that starts a web server: what the server responds at `/hello?name=Ada`. */
  readonly responds?: string
  /** The services without which it cannot run. */
  readonly needs?: readonly OptionalService[]
  /**
   * Whether `npm test` runs it too: it needs something of the server that no other case there needs,
   * such as a file of the package, a native addon, a thread or a socket.
   */
  readonly isInTests?: boolean
}

/** Services that are programs of the machine and may be missing. */
export type OptionalService = "font" | "mariadb" | "mosquitto" | "nats" | "postgres" | "redis"

/** The addresses of the services, as the vals get them. */
export interface ServiceAddresses {
  /** A server that responds to each request with what it received, as JSON. */
  readonly http: string
  /** Serves what `http` serves, with a certificate of an authority of our own, which is `ca`. */
  readonly https: string
  readonly ca: string
  /** A WebSocket that sends each message back after `echo `. */
  readonly ws: string
  readonly wss: string
  /** Host and port of a TCP server, and of one with TLS, that send back what they receive. */
  readonly tcp: readonly [string, number]
  readonly tls: readonly [string, number]
  /** A server of HTTP/2. */
  readonly http2: string
  /** A mail server with STARTTLS that accepts each message; `mails` at `http` lists the subjects. */
  readonly smtp: readonly [string, number]
  /** A font, in TrueType. */
  readonly font?: string
  readonly mariadb?: string
  readonly mosquitto?: string
  readonly nats?: string
  readonly postgres?: string
  readonly redis?: string
}

/** A package in the version that a case uses. */
export interface UsedPackage {
  readonly name: string
  readonly version: string
}

/** The packages of a case, in the order of its imports. */
export function toPackages({ code }: PackageCase): UsedPackage[] {
  const found = code.matchAll(/npm:((?:@[\w.-]+\/)?[\w.-]+)@([\w.-]+)/g)
  const byName = new Map(Array.from(found, ([, name = "", version = ""]) => [name, version]))
  return Array.from(byName, ([name, version]) => ({ name, version }))
}

/** The package that a case is about: its first one. */
export function toPackage(useCase: PackageCase): UsedPackage {
  const [first] = toPackages(useCase)
  if (!first) throw new Error(`Cannot find the package of a case: ${useCase.code.slice(0, 100)}`)
  return first
}
